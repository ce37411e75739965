'use strict';
/* The method, drawn: a sequence, arcs between tokens that share a position ID, the keys that a query sees, and the ID
 * and token that come next, step by step. And of texts, the passage of a probe with the sources of each prediction. */

/* Buttons and a slider for steps from..to; show(step, spoken). */
LG.player = (from, to, show, label) => {
  let at = from, timer = null;
  const slider = h('input', { type: 'range', min: from, max: to, value: from, 'aria-label': label, input: () => { stop(); go(+slider.value, true); } });
  const play = h('button', { type: 'button', class: 'play', click: () => timer ? stop() : start() }, 'Play');
  const go = (step, spoken) => {
    at = Math.max(from, Math.min(to, step));
    slider.value = at;
    show(at, spoken);
    if (at === to) stop();
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = 'Play'; };
  const start = () => {
    if (at === to) go(from, false);
    play.textContent = 'Pause';
    timer = setInterval(() => go(at + 1, false), 900);
  };
  const step = d => () => { stop(); go(at + d, true); };
  const bar = h('div', { class: 'row screen' }, h('button', { type: 'button', class: 'back', click: step(-1) }, 'Back'), play,
    h('button', { type: 'button', class: 'step', click: step(1) }, 'Step'), slider);
  bar.start = () => go(from, false);
  return bar;
};

LG.quote = word => '“' + (word === ' ' ? '␣' : word) + '”';

/* g: {task, run, step, source, levels, span, window, prompt, exact, tokens: [{w, id, g, p, e, eid}]}; id and eid have an
 * entry per level, null: none. See page_method.c. */
LG.method = g => {
  const MOST = 600, n = Math.min(g.tokens.length, MOST), t = g.tokens.slice(0, n);
  const names = g.levels.map((l, i) => l || (g.levels.length > 1 ? `level ${i + 1}` : 'ID'));
  const shown = t.map(x => x.w === ' ' ? '␣' : x.w === '\n' ? '↵' : x.w);
  const cell = Math.max(30, Math.min(90, 14 + 9 * Math.max(...shown.map(w => w.length), ...t.map(x => Math.max(...x.id.map(v => String(v === null ? '' : v).length), 0)))));
  let level = 0;
  const left = 10 + 8 * Math.max(...names.map(l => l.length), 6);
  const windows = g.span === 'window' ? g.window : null;
  /* Whether query q sees key k: at least one level has an ID in both, and at every such level key - query is within its window. */
  const sees = (q, k) => {
    if (k > q) return false;
    if (!windows || k === q) return true;
    let both = 0;
    for (let l = 0; l < g.levels.length; l++) {
      const a = t[q].id[l], b = t[k].id[l], w = windows[l] || windows[0];
      if (a === null || b === null || a === undefined || b === undefined) continue;
      both++;
      if (b - a < w[0] || b - a > w[1]) return false;
    }
    return both > 0;
  };
  const high = () => {
    let far = 1;
    const last = new Map();
    t.forEach((x, i) => { const id = x.id[level]; if (id === null) return; if (last.has(id)) far = Math.max(far, i - last.get(id)); last.set(id, i); });
    return Math.min(150, 26 + 9 * Math.sqrt(far * cell));
  };
  const scroller = h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'The sequence; scroll with the arrow keys' });
  const say = h('p', { class: 'say' });
  let svg = null;
  const x = i => left + (i + .5) * cell;

  const draw = q => {
    const next = q + 1 < n ? q + 1 : -1, arcs = high(), base = arcs + 14, row = 24;
    const width = left + n * cell + 8, height = base + 34 + row * g.levels.length + 30;
    svg = h('svg', { viewBox: `0 0 ${width} ${height}`, style: `width:${width}px;max-width:none`, role: 'img', 'aria-label': sentence(q) });
    const text = (i, y, v, more) => h('text', { x: x(i), y, 'text-anchor': 'middle', 'font-size': 14, fill: 'var(--ink)', ...more }, v);
    /* What the query sees. */
    for (let k = 0; k <= q; k++)
      if (sees(q, k)) svg.append(h('rect', { x: x(k) - cell / 2 + 1, y: base, width: cell - 2, height: height - base - 24, fill: 'var(--mark)' }));
    svg.append(h('rect', { x: x(q) - cell / 2 + 2, y: base + 1, width: cell - 4, height: height - base - 26, fill: 'none', stroke: 'var(--c0)', 'stroke-width': 2, rx: 3 }));
    if (next >= 0) svg.append(h('rect', { x: x(next) - cell / 2 + 2, y: base + 1, width: cell - 4, height: height - base - 26, fill: 'none', stroke: 'var(--c1)', 'stroke-width': 2, 'stroke-dasharray': '4 3', rx: 3 }));
    /* Neighbours with the same ID. */
    const last = new Map(), now = next >= 0 ? t[next].id[level] : t[q].id[level];
    for (let i = 0; i <= Math.max(q, next); i++) {
      const id = t[i].id[level];
      if (id === null || id === undefined) continue;
      if (last.has(id)) {
        const a = x(last.get(id)), b = x(i), up = Math.min(arcs, 16 + 9 * Math.sqrt(b - a)), strong = id === now;
        svg.append(h('path', { d: `M${a} ${base}C${a} ${base - up} ${b} ${base - up} ${b} ${base}`, fill: 'none', stroke: strong ? 'var(--c1)' : LG.colour(7), 'stroke-width': strong ? 2.4 : 1, 'stroke-opacity': strong ? 1 : .55 }));
      }
      last.set(id, i);
    }
    svg.append(h('text', { x: 4, y: base + 21, 'font-size': 12, fill: 'var(--soft)' }, 'token'));
    names.forEach((l, r) => svg.append(h('text', { x: 4, y: base + 21 + row * (r + 1), 'font-size': 12, fill: 'var(--soft)' }, l)));
    for (let i = 0; i < n; i++) {
      const hidden = i > q + 1, wrong = t[i].g && t[i].e !== undefined && t[i].e !== null && t[i].e !== t[i].w;
      svg.append(text(i, base + 21, i <= q + 1 ? shown[i] : '·', { 'font-weight': t[i].g ? 600 : 400, fill: hidden ? 'var(--soft)' : wrong ? 'var(--bad)' : i === next ? 'var(--c1)' : 'var(--ink)', 'text-decoration': wrong && !hidden ? 'underline' : null }));
      g.levels.forEach((_, l) => {
        const id = t[i].id[l], off = t[i].g && t[i].eid && t[i].eid[l] !== id;
        svg.append(text(i, base + 21 + row * (l + 1), i > q + 1 ? '' : id === null || id === undefined ? '–' : id, { 'font-size': 13, fill: off ? 'var(--bad)' : i === next ? 'var(--c1)' : 'var(--soft)', 'font-weight': i === next ? 600 : 400 }));
      });
    }
    svg.append(text(q, height - 8, 'query', { 'font-size': 11, fill: 'var(--c0)' }));
    if (next >= 0) svg.append(text(next, height - 8, 'next', { 'font-size': 11, fill: 'var(--c1)' }));
    scroller.replaceChildren(svg);
    const want = x(q) - scroller.clientWidth * .6;
    if (scroller.scrollWidth > scroller.clientWidth) scroller.scrollLeft = Math.max(0, want);
  };
  const ids = i => g.levels.map((_, l) => t[i].id[l] === null || t[i].id[l] === undefined ? null : `${g.levels.length > 1 || g.levels[l] ? names[l] + ' ' : 'ID '}${t[i].id[l]}`).filter(Boolean).join(', ') || 'no ID';
  const sentence = q => {
    let seen = 0;
    for (let k = 0; k <= q; k++) seen += sees(q, k);
    const parts = [`Token ${q + 1} of ${g.tokens.length}: the query is ${LG.quote(t[q].w)} with ${ids(q)}.`];
    parts.push(windows ? `It sees ${seen} of ${q + 1} tokens: those whose ID differs by ${windows.map(w => `${w[0]} to ${w[1]}`).join('; ')}.` : `It sees all ${q + 1} tokens so far (full span).`);
    if (q + 1 < n) {
      const x2 = t[q + 1], who = !x2.g ? 'The prompt goes on with' : g.source === 'predicted' ? 'The model predicts' : g.source === 'given' ? 'The rule gives' : 'Next comes';
      parts.push(`${who} ${ids(q + 1)}${x2.g && g.source ? `, and the model writes ${LG.quote(x2.w)}${x2.p !== undefined ? ` (probability ${x2.p.toFixed(2)})` : ''}` : ` and ${LG.quote(x2.w)}`}.`);
      if (x2.g && x2.e !== undefined && x2.e !== null && x2.e !== x2.w) parts.push(`Wrong: ${LG.quote(x2.e)} is right.`);
      const same = t.slice(0, q + 1).filter(y => x2.id[level] !== null && y.id[level] === x2.id[level]).length;
      if (same) parts.push(`${same} earlier token${same === 1 ? ' has' : 's have'} the same ID: the arcs.`);
    }
    return parts.join(' ');
  };
  const first = Math.min(Math.max(0, (g.prompt || 1) - 1), n - 1);
  let at = first;
  const bar = LG.player(0, Math.max(0, n - 2), (q, spoken) => { at = q; draw(q); say.setAttribute('aria-live', spoken ? 'polite' : 'off'); say.textContent = sentence(q); }, 'Step of the sequence');
  const choose = g.levels.length > 1 ? h('label', { class: 'soft screen' }, 'Arcs by ', h('select', { change: e => { level = +e.target.value; draw(at); } }, names.map((l, i) => h('option', { value: i }, l)))) : null;
  const table = h('details', {}, h('summary', {}, 'As a table'),
    LG.table(['', 'token', ...names, ...(g.source ? ['probability', 'right token', 'right ID'] : [])], t.map((y, i) => [i + 1, LG.quote(y.w), ...g.levels.map((_, l) => y.id[l] === null || y.id[l] === undefined ? '–' : String(y.id[l])),
      ...(g.source ? [y.g && y.p !== undefined ? y.p.toFixed(3) : '–', y.g && y.e !== undefined && y.e !== null ? LG.quote(y.e) : '–', y.g && y.eid ? y.eid.map(v => v === null ? '–' : v).join(' ') : '–'] : [])]), 'Tokens and IDs'));
  const verdict = g.exact === true ? h('span', { class: 'good' }, 'exact') : g.exact === false ? h('span', { class: 'bad' }, 'not exact') : null;
  const head = h('div', { class: 'row' }, h('strong', {}, g.title || g.task), verdict,
    h('span', { class: 'soft' }, [g.step !== undefined ? `step ${LG.number(g.step)}` : null, g.source ? `${g.source} IDs` : null, windows ? 'window' : 'full span'].filter(Boolean).join(', ')), choose);
  const box = h('section', { class: 'method', 'aria-label': 'The method on ' + (g.title || g.task) }, head, scroller, say, bar, table,
    n < g.tokens.length ? h('p', { class: 'soft' }, `The first ${n} of ${LG.number(g.tokens.length)} tokens are drawn.`) : null);
  /* From the prompt's last token on, which is where the answer begins. */
  bar.querySelector('input').value = first;
  requestAnimationFrame(() => { bar.querySelector('input').dispatchEvent(new Event('input')); });
  return box;
};

LG.methodLegend = () => h('p', { class: 'soft' }, 'Arcs join tokens that share a position ID. Shaded: what the query (blue frame) sees. Orange: the ID and the token that come next. Play, or go step by step.');

/* p: {document, few, many, most_k, pieces, rows: [{at, k, loss, loss0, depends, sources: [[place, influence]]}]}. */
LG.passage = p => {
  const rows = p.rows.filter(r => r.depends && r.sources.length), say = h('p', { class: 'say' }), by = new Map(rows.map((r, i) => [r.at, i]));
  const kinds = r => r.k <= p.few ? 'few' : r.k <= p.many ? 'some' : 'many';
  const spans = p.pieces.map((w, i) => by.has(i)
    ? h('button', { type: 'button', class: kinds(rows[by.get(i)]), tabindex: -1, click: () => move(by.get(i)) }, w)
    : h('span', {}, w));
  const show = (i, spoken) => {
    spans.forEach(s => s.classList.remove('me', 'from'));
    const r = rows[i];
    if (!r) return;
    spans[r.at].classList.add('me');
    r.sources.forEach(s => spans[s[0]].classList.add('from'));
    say.setAttribute('aria-live', spoken ? 'polite' : 'off');
    say.textContent = `${LG.quote(p.pieces[r.at])} needs ${r.k > p.most_k ? 'more than ' + p.most_k : r.k} earlier token${r.k === 1 ? '' : 's'} (k*): ` +
      r.sources.map(s => `${LG.quote(p.pieces[s[0]].trim() || p.pieces[s[0]])} ${s[1] >= 0 ? '+' : ''}${s[1].toPrecision(2)}`).join(', ') + `. Loss ${r.loss.toFixed(2)}, without context ${r.loss0.toFixed(2)} nats.`;
  };
  const bar = LG.player(0, Math.max(0, rows.length - 1), show, 'Prediction of the passage');
  const move = i => { const s = bar.querySelector('input'); s.value = i; s.dispatchEvent(new Event('input')); };
  const box = h('section', { class: 'method', 'aria-label': 'Where predictions come from' },
    h('p', { class: 'soft' }, `Document ${p.document}. Coloured: predictions that depend on their context: green on up to ${p.few} earlier tokens, yellow on up to ${p.many}, orange on more (k*). Framed: the prediction; underlined: the tokens that it comes from.`),
    h('div', { class: 'passage' }, spans), say, bar,
    h('details', {}, h('summary', {}, 'As a table'), LG.table(['place', 'token', 'k*', 'loss', 'without context', 'sources'],
      rows.map(r => [r.at, LG.quote(p.pieces[r.at]), r.k > p.most_k ? `>${p.most_k}` : String(r.k), r.loss.toFixed(3), r.loss0.toFixed(3), r.sources.map(s => LG.quote(p.pieces[s[0]])).join(' ')]), 'Predictions and their sources')));
  if (rows.length) bar.start();
  else say.textContent = 'No prediction of this passage depends on its context.';
  return box;
};
