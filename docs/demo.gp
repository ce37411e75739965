# demo.gp: the README's picture, from the lines of `lengthen demo --json`. Use: make picture
# (jsonl and out are set by the Makefile). Each line is one object; awk takes the fields.
set terminal svg size 760,400 font "sans,13" background "white"
set output out
pick(method) = "<awk '/\"method\":\"" . method . "\",/ { t = e = r = $0; \
  sub(/.*\"tokens\":/, \"\", t); sub(/.*\"exact\":/, \"\", e); sub(/.*\"trained\":/, \"\", r); \
  print t / r, 100 * (e + 0) }' " . jsonl
set logscale x
set xrange [0.6:60000]
set yrange [-4:108]
set format x "%.0fx"
set xlabel "length, as a multiple of the longest in training (12, 18, 42 and 42 tokens)"
set ylabel "answers with every token right, %"
set object 1 rectangle from graph 0, graph 0 to first 1, graph 1 \
  fillcolor rgb "#dddddd" fillstyle solid noborder behind
set label 1 "training" at 0.75, 40 rotate by 90 textcolor rgb "#555555"
set label 2 "a million tokens" at 23810, 92 center textcolor rgb "#1f5fa8"
set grid ytics linecolor rgb "#cccccc"
set key at graph 0.98, graph 0.72 right
plot pick("coupled, window, predicted") using 1:2 with linespoints linewidth 2 pointtype 7 \
       pointsize 0.8 linecolor rgb "#1f5fa8" title "coupled IDs, window, IDs predicted (PPC)", \
     pick("coupled") using 1:2 with linespoints linewidth 2 dashtype 2 pointtype 4 pointsize 0.8 \
       linecolor rgb "#b0413e" title "coupled IDs, full span", \
     pick("plain") using 1:2 with linespoints linewidth 2 dashtype 3 pointtype 8 pointsize 0.8 \
       linecolor rgb "#7a7a7a" title "plain places, RoPE", \
     pick("PoSE") using 1:2 with linespoints linewidth 2 dashtype 4 pointtype 6 pointsize 0.8 \
       linecolor rgb "#c08a2e" title "PoSE, RoPE"
