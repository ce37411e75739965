# demo.gp: the README's picture, from the lines of `lengthen demo --json`. Use: make picture
# (jsonl and out are set by the Makefile). Each line is one object; awk takes the fields.
set terminal svg size 760,380 font "sans,13" background "white"
set output out
pick(method) = "<awk -F'[:,]' '/" . method . " span/ { for (i = 1; i < NF; i++) { \
  if ($i ~ /\"tokens\"/) t = $(i+1); if ($i ~ /\"exact\"/) e = $(i+1) } print t, 100 * e }' " . jsonl
set logscale x
set xrange [30:1500000]
set yrange [-4:108]
set format x "10^{%T}"
set xlabel "length of the sequence in tokens (trained on at most 41)"
set ylabel "answers with every token right, %"
set object 1 rectangle from graph 0, graph 0 to first 41, graph 1 \
  fillcolor rgb "#dddddd" fillstyle solid noborder behind
set label 1 "training" at 34, 40 rotate by 90 textcolor rgb "#555555"
set grid ytics linecolor rgb "#cccccc"
set key at graph 0.98, graph 0.6 right
plot pick("window") using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.8 \
       linecolor rgb "#1f5fa8" title "coupled IDs, window span", \
     pick("full") using 1:2 with linespoints linewidth 2 dashtype 2 pointtype 4 pointsize 0.8 \
       linecolor rgb "#b0413e" title "coupled IDs, full span"
