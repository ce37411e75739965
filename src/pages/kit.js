'use strict';
/* The page kit: elements, numbers, and charts that show values under the pointer or by arrow keys, hide and show
 * lines, are saved as SVG, PNG and CSV, and have a table. Colours, dashes and marks are those of report/figure.c. */
const LG = {};

/* h('p', {class: 'soft'}, 'text', element): attributes by name; a function is a listener. */
LG.h = (tag, attributes, ...children) => {
  const svg = /^(svg|g|path|line|rect|circle|text|title|polygon|defs|clipPath|use)$/.test(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {}))
    if (typeof v === 'function') e.addEventListener(k, v);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? '' : v);
  return LG.add(e, ...children);
};
/* Appends elements, texts and lists of them; null is nothing. */
LG.add = (e, ...children) => {
  for (const c of children.flat()) if (c !== null && c !== undefined) e.append(c);
  return e;
};
const h = LG.h;

LG.number = x => {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (Math.abs(x - Math.round(x)) > 1e-9 * Math.max(1, Math.abs(x))) return String(+x.toPrecision(4)).replace('-', '−');
  const a = Math.abs(Math.round(x));
  if (a < 1e7) return (x < 0 ? '−' : '') + String(a).replace(/\B(?=(\d{3})+$)/g, ',');
  const k = Math.floor(Math.log10(a) + 1e-9), f = +(a / 10 ** k).toPrecision(3);
  return (x < 0 ? '−' : '') + (f === 1 ? '' : f + '×') + '10' + LG.raised(k);
};
LG.raised = k => String(k).replace(/./g, c => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]);
LG.percent = v => {
  if (v === null || v === undefined) return '–';
  const p = 100 * v;
  return (p > 99.95 && p < 100 ? '>99.9' : p < 100 && p > 0 ? p.toFixed(1) : p.toFixed(0)) + '%';
};

LG.lines = { colours: 8, dash: ['', '5 8', '2 4', '8 4 2 4', '9 4 1 4 1 4'], marks: 6 };
LG.colour = i => `var(--c${i % 8})`;
LG.dash = i => LG.lines.dash[(i + Math.floor(i / 8)) % 5];
/* Circle, square, triangle, diamond, triangle down, pentagon; open where a line was not learned. */
LG.mark = (i, x, y, open) => {
  const r = 3.6, at = (n, turn) => Array.from({ length: n }, (_, k) => {
    const a = turn + 2 * Math.PI * k / n;
    return `${(x + 1.15 * r * Math.cos(a)).toFixed(1)},${(y + 1.15 * r * Math.sin(a)).toFixed(1)}`;
  }).join(' ');
  const look = { fill: open ? 'var(--card)' : LG.colour(i), stroke: LG.colour(i), 'stroke-width': 1.2 };
  const up = -Math.PI / 2;
  switch (i % 6) {
    case 0: return h('circle', { cx: x.toFixed(1), cy: y.toFixed(1), r, ...look });
    case 1: return h('rect', { x: (x - r).toFixed(1), y: (y - r).toFixed(1), width: 2 * r, height: 2 * r, ...look });
    case 2: return h('polygon', { points: at(3, up), ...look });
    case 3: return h('polygon', { points: at(4, up), ...look });
    case 4: return h('polygon', { points: at(3, -up), ...look });
    default: return h('polygon', { points: at(5, up), ...look });
  }
};

/* head: texts; rows: lists of texts, numbers or elements; a column of numbers ends at the right. */
LG.table = (head, rows, caption) => {
  const right = head.map((_, i) => rows.length && rows.every(r => typeof r[i] === 'number' || r[i] === null || r[i] === '–' || /^[−\d.,×⁰¹²³⁴⁵⁶⁷⁸⁹>%]+$/.test(r[i])));
  const text = v => typeof v === 'number' ? LG.number(v) : v === null || v === undefined ? '–' : v;
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': (typeof caption === 'string' && caption) || 'table' },
    h('table', {}, caption ? h('caption', {}, caption) : null,
      h('thead', {}, h('tr', {}, head.map((t, i) => h('th', { scope: 'col', class: right[i] ? 'n' : null }, t)))),
      h('tbody', {}, rows.map(r => h('tr', {}, r.map((v, i) =>
        i ? h('td', { class: right[i] ? 'n' : null }, text(v)) : h('th', { scope: 'row', class: right[i] ? 'n' : null }, text(v))))))));
};

/* ---- Saving ---- */

LG.save = (name, type, content) => {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const a = h('a', { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};
LG.fileName = title => (title || 'figure').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60) || 'figure';
LG.csv = rows => rows.map(r => r.map(v => {
  const t = v === null || v === undefined ? '' : String(v);
  return /[",\n]/.test(t) ? '"' + t.replace(/"/g, '""') + '"' : t;
}).join(',')).join('\n') + '\n';

/* The drawing as a file of its own: colours of a light page, whatever the page has. */
LG.paper = {
  c0: '#0072b2', c1: '#d55e00', c2: '#009e73', c3: '#cc79a7', c4: '#e69f00', c5: '#56b4e9', c6: '#000000', c7: '#8c8c8c',
  card: '#ffffff', page: '#ffffff', ink: '#1d1f21', soft: '#595f66', line: '#d9d9d9', axis: '#777777', shade: '#ececec', mark: '#fff1d6',
};
LG.svgText = svg => {
  const copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
  copy.querySelectorAll('.only-screen').forEach(e => e.remove());
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', box.width);
  copy.setAttribute('height', box.height);
  copy.setAttribute('font-family', 'sans-serif');
  ['tabindex', 'style'].forEach(a => copy.removeAttribute(a));
  copy.prepend(h('rect', { width: box.width, height: box.height, fill: '#ffffff' }));
  return new XMLSerializer().serializeToString(copy).replace(/var\(--(\w+)\)/g, (_, name) => LG.paper[name] || '#000000');
};
LG.savePng = (svg, name) => {
  const text = LG.svgText(svg), box = svg.viewBox.baseVal, image = new Image();
  return new Promise((done, failed) => {
    image.onload = () => {
      const canvas = h('canvas', { width: 2 * box.width, height: 2 * box.height });
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(b => { LG.save(name + '.png', 'image/png', b); done(); }, 'image/png');
    };
    image.onerror = failed;
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
  });
};
/* Buttons that save a figure; find() gives its SVG, rows() its numbers. */
LG.tools = (title, find, rows, table) => {
  const name = LG.fileName(title);
  const shown = h('div', { hidden: true });
  const toggle = h('button', { type: 'button', 'aria-expanded': 'false', click: () => {
    shown.hidden = !shown.hidden;
    toggle.setAttribute('aria-expanded', String(!shown.hidden));
    toggle.textContent = shown.hidden ? 'Show table' : 'Hide table';
    if (!shown.hidden) shown.replaceChildren(table());
  } }, 'Show table');
  const button = (label, run) => h('button', { type: 'button', 'aria-label': `Save ${title || 'the figure'} as ${label}`, click: run }, label);
  return { bar: h('div', { class: 'tools' }, toggle,
    button('SVG', () => LG.save(name + '.svg', 'image/svg+xml', LG.svgText(find()))),
    button('PNG', () => LG.savePng(find(), name)),
    button('CSV', () => LG.save(name + '.csv', 'text/csv', LG.csv(rows())))), shown };
};

/* ---- Line charts ---- */

/* spec: {title, x_label, y_label, curves: [{name, x, y, low, high, unlearned}], trained: [lo, hi] or null, log_y,
 * y_low, y_high (both 0: shares, 0 to 1), caption, steps: true (x is a step: linear, no marks)}. The figure has
 * update(spec), which keeps what is hidden. */
LG.chart = spec => {
  const hidden = new Set();
  const figure = h('figure', { class: 'chart' });
  const title = h('figcaption', {}), holder = h('div', {}), legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Lines: press to hide or show' });
  const tip = h('div', { class: 'tip', hidden: true }), note = h('div', { class: 'live-note', 'aria-live': 'polite' });
  const caption = h('p', { class: 'soft' });
  let svg = null, scale = null, cursor = -1, width = 0, table = null;

  const rows = () => {
    const r = [['line', spec.x_label || 'x', spec.y_label || 'y', 'low', 'high']];
    for (const c of spec.curves) c.x.forEach((x, i) => r.push([c.name, x, c.y[i], c.low ? c.low[i] : null, c.high ? c.high[i] : null]));
    return r;
  };
  const value = y => y === null ? '–' : share() ? LG.percent(y) : LG.number(+y.toPrecision(4));
  const share = () => !spec.log_y && !(spec.y_high > spec.y_low);
  const makeTable = () => {
    const xs = [...new Set(spec.curves.flatMap(c => c.x))].sort((a, b) => a - b);
    const few = xs.length > 60 ? xs.filter((_, i) => i % Math.ceil(xs.length / 60) === 0 || i === xs.length - 1) : xs;
    return LG.table([spec.x_label || 'x', ...spec.curves.map(c => c.name || 'value')],
      few.map(x => [LG.number(x), ...spec.curves.map(c => { const i = c.x.indexOf(x); return i < 0 ? '–' : value(c.y[i]); })]), spec.title);
  };
  const tools = LG.tools(spec.title, () => svg, rows, makeTable);

  const draw = () => {
    width = Math.max(300, Math.min(1000, Math.round(holder.clientWidth || 720)));
    scale = LG.scale(spec, width, hidden);
    svg = LG.drawLines(spec, scale, hidden);
    svg.addEventListener('pointermove', e => {
      const box = svg.getBoundingClientRect();
      show(nearest((e.clientX - box.left) * width / box.width), e.clientX - box.left, e.clientY - box.top);
    });
    svg.addEventListener('pointerleave', () => show(-1));
    svg.addEventListener('keydown', e => {
      const n = scale.xs.length, step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (e.key === 'Escape') { show(-1); return; }
      const to = e.key === 'Home' ? 0 : e.key === 'End' ? n - 1 : step ? Math.max(0, Math.min(n - 1, cursor < 0 && step < 0 ? n - 1 : cursor + step)) : null;
      if (to === null || !n) return;
      e.preventDefault();
      show(to, scale.x(scale.xs[to]) * svg.getBoundingClientRect().width / width, 30);
      note.textContent = words(to).join('; ');
    });
    svg.addEventListener('blur', () => show(-1));
    holder.replaceChildren(svg);
  };
  const nearest = px => {
    let best = -1, least = Infinity;
    scale.xs.forEach((x, i) => { const d = Math.abs(scale.x(x) - px); if (d < least) { least = d; best = i; } });
    return best;
  };
  const words = at => {
    const x = scale.xs[at];
    const near = spec.curves.map((c, i) => [c, i]).filter(([c, i]) => !hidden.has(c.name) && c.x.length).map(([c, i]) => {
      let k = c.x.indexOf(x);
      if (k < 0 && spec.steps) k = c.x.reduce((b, v, j) => Math.abs(v - x) < Math.abs(c.x[b] - x) ? j : b, 0);
      if (k < 0) return null;
      const band = c.low && c.low[k] !== null && c.high[k] !== null ? ` (${value(c.low[k])} to ${value(c.high[k])})` : '';
      return [i, `${c.name ? c.name + ': ' : ''}${value(c.y[k])}${band}`];
    }).filter(Boolean);
    near.unshift([-1, `${spec.x_label || 'x'} ${LG.number(x)}`]);
    words.of = near;
    return near.map(n => n[1]);
  };
  const show = (at, px, py) => {
    cursor = at;
    svg.querySelector('.cursor').setAttribute('visibility', at < 0 ? 'hidden' : 'visible');
    tip.hidden = at < 0;
    if (at < 0) return;
    const x = scale.x(scale.xs[at]);
    svg.querySelector('.cursor').setAttribute('x1', x);
    svg.querySelector('.cursor').setAttribute('x2', x);
    words(at);
    tip.replaceChildren(...words.of.map(([i, t]) => h('div', { style: i < 0 ? 'font-weight:600' : `border-left:4px solid ${LG.colour(i)};padding-left:.35rem` }, t)));
    const room = figure.clientWidth, w = tip.offsetWidth;
    tip.style.left = Math.max(0, px + 14 + w > room ? px - w - 14 : px + 14) + 'px';
    tip.style.top = holder.offsetTop + Math.max(0, py - 10) + 'px';
  };
  const key = () => {
    legend.hidden = spec.curves.length < 2 && !spec.curves.some(c => c.unlearned);
    const had = [...legend.children].indexOf(document.activeElement);
    legend.replaceChildren(...spec.curves.map((c, i) => h('button', { type: 'button', 'aria-pressed': String(!hidden.has(c.name)), click: () => {
      if (hidden.has(c.name)) hidden.delete(c.name); else hidden.add(c.name);
      key(); draw();
    } }, LG.sample(i, c, spec), (c.name || 'value') + (c.unlearned ? ' (not learned)' : ''))));
    if (had >= 0 && legend.children[had]) legend.children[had].focus();
  };
  figure.update = next => {
    spec = next;
    title.textContent = spec.title || '';
    title.hidden = !spec.title;
    caption.textContent = spec.caption || '';
    caption.hidden = !spec.caption;
    key();
    draw();
    if (!tools.shown.hidden) tools.shown.replaceChildren(makeTable());
    return figure;
  };
  figure.append(title, holder, legend, tools.bar, tools.shown, caption, tip, note);
  figure.update(spec);
  new ResizeObserver(() => { if (holder.clientWidth && Math.abs(holder.clientWidth - width) > 4) draw(); }).observe(holder);
  return figure;
};

LG.sample = (i, c, spec) => h('svg', { viewBox: '0 0 34 12', 'aria-hidden': 'true' },
  h('line', { x1: 1, x2: 33, y1: 6, y2: 6, stroke: LG.colour(i), 'stroke-width': c.unlearned ? 1 : 2, 'stroke-dasharray': LG.dash(i) }),
  spec.steps ? null : LG.mark(i, 17, 6, c.unlearned));

/* Where numbers are in the picture: the axes of report/figure.c, with its narrowed range of training. */
LG.scale = (spec, width, hidden) => {
  const shown = spec.curves.filter(c => !hidden.has(c.name));
  const xs = [...new Set(shown.flatMap(c => c.x))].sort((a, b) => a - b);
  const s = { width, height: Math.round(Math.min(420, Math.max(230, width * .52))), left: 58, right: 16, top: 10, bottom: 46, xs };
  let lo = xs.length ? xs[0] : 0, hi = xs.length ? xs[xs.length - 1] : 1;
  s.log = !spec.steps && lo > 0 && hi / lo >= 10;
  s.whole = xs.every(x => x === Math.floor(x));
  const t = spec.trained;
  if (t) { hi = Math.max(hi, t[1]); if (!s.log || t[0] > 0) lo = Math.min(lo, t[0]); }
  s.least = lo; s.most = hi;
  const margin = s.log ? (hi / lo) ** .03 : hi > lo ? .03 * (hi - lo) : 1;
  s.lo = s.log ? lo / margin : lo - margin;
  s.hi = s.log ? hi * margin : hi + margin;
  const exact = x => s.log ? Math.log(x / s.lo) / Math.log(s.hi / s.lo) : (x - s.lo) / (s.hi - s.lo);
  const edge = t ? exact(t[1]) : 0, TRAINED = .2;
  s.squeeze = edge > TRAINED && t[1] < .9 * s.most && !spec.steps ? TRAINED / edge : 1;
  s.place = x => {
    const at = exact(x);
    return s.squeeze === 1 ? at : at <= edge ? at * s.squeeze : TRAINED + (at - edge) / (1 - edge) * (1 - TRAINED);
  };
  s.x = x => s.left + s.place(x) * (s.width - s.left - s.right);
  const ys = shown.flatMap(c => [...c.y, ...(c.low || []), ...(c.high || [])]).filter(v => v !== null && Number.isFinite(v));
  const high = s.height - s.top - s.bottom;
  if (spec.log_y) {
    const positive = ys.filter(v => v > 0);
    s.y0 = positive.length ? Math.floor(Math.log10(Math.min(...positive)) + 1e-9) : -1;
    s.y1 = positive.length ? Math.ceil(Math.log10(Math.max(...positive)) - 1e-9) : 0;
    if (s.y1 === s.y0) s.y1++;
    s.y = v => s.top + high * (1 - (Math.log10(Math.max(v, 10 ** s.y0)) - s.y0) / (s.y1 - s.y0));
    const every = 1 + Math.floor((s.y1 - s.y0) / 10);
    s.ticks_y = [];
    for (let k = s.y0; k <= s.y1; k += every) s.ticks_y.push([10 ** k, k === 0 ? '1' : '10' + LG.raised(k)]);
  } else {
    const shares = !(spec.y_high > spec.y_low);
    s.y0 = shares ? -.04 : spec.y_low; s.y1 = shares ? 1.04 : spec.y_high;
    s.y = v => s.top + high * (1 - (v - s.y0) / (s.y1 - s.y0));
    s.ticks_y = shares ? [0, .2, .4, .6, .8, 1].map(v => [v, (100 * v).toFixed(0)]) : LG.steps(s.y0, s.y1, 8, false).map(v => [v, LG.number(+v.toPrecision(6))]);
  }
  s.ticks_x = [];
  const near = 1e-9 * (s.log ? 1 : s.most - s.least);
  const add = (x, label) => {
    if (x < s.least * (s.log ? 1 - 1e-9 : 1) - near || x > s.most * (s.log ? 1 + 1e-9 : 1) + near) return;
    const squeezed = s.squeeze < 1 && x < t[1] * (1 - 1e-9);
    if (squeezed && !label) return;
    const crowded = s.squeeze < 1 && x !== t[1] && Math.abs(s.place(t[1]) - s.place(x)) < .08;
    s.ticks_x.push([x, label && !crowded ? LG.number(x) : '']);
  };
  if (s.log) {
    const decades = Math.log10(s.hi / s.lo), every = 1 + Math.floor(decades / (width < 500 ? 5 : 9));
    for (let k = Math.floor(Math.log10(s.lo)); k <= Math.ceil(Math.log10(s.hi)); k++)
      for (let m = 1; m < 10; m++) add(m * 10 ** k, m === 1 ? k % every === 0 : decades < (width < 500 ? 2 : 3) && (m === 2 || m === 5));
  } else LG.steps(s.lo, s.hi, width < 500 ? 5 : 10, s.whole).forEach(x => add(x, true));
  if (s.squeeze < 1) {
    s.ticks_x = s.ticks_x.filter(k => k[0] !== t[1]);
    add(t[1], true);
  }
  return s;
};
/* Round numbers from lo to hi, at most `most` of them. */
LG.steps = (lo, hi, most, whole) => {
  if (!(hi > lo)) return [lo];
  const power = 10 ** Math.floor(Math.log10((hi - lo) / most));
  let step = [1, 2, 5, 10].map(f => f * power).find(v => (hi - lo) / v <= most);
  if (whole && step < 1) step = 1;
  const list = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi * (1 + 1e-12) && list.length < 30; i++) list.push(+(i * step).toPrecision(12));
  return list;
};

LG.clip = 0;
LG.drawLines = (spec, s, hidden) => {
  const { width, height, left, right, top, bottom } = s, text = { fill: 'var(--soft)', 'font-size': 12 };
  const lines = spec.curves.filter(c => !hidden.has(c.name)).length, clip = 'clip' + ++LG.clip;
  const svg = h('svg', { viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: 'img',
    'aria-label': `${spec.title || 'Chart'}: ${spec.y_label || ''} over ${spec.x_label || ''}, ${lines} line${lines === 1 ? '' : 's'}. Arrow keys read the values; the table has all of them.` });
  svg.append(h('defs', {}, h('clipPath', { id: clip }, h('rect', { x: left, y: top - 4, width: width - left - right + 6, height: height - top - bottom + 8 }))));
  if (spec.trained) {
    let a = s.place(Math.max(spec.trained[0], s.lo)), b = s.place(spec.trained[1]);
    const thin = Math.max(0, .006 - (b - a) / 2), wide = width - left - right;
    a = Math.max(0, a - thin); b = Math.min(1, b + thin);
    svg.append(h('rect', { x: left + a * wide, y: top, width: (b - a) * wide, height: height - top - bottom, fill: 'var(--shade)' }));
    const label = `training, ${LG.number(spec.trained[0])} to ${LG.number(spec.trained[1])}${s.squeeze < 1 ? ' (narrowed)' : ''}`;
    const half = 3.1 * label.length, middle = Math.min(Math.max(left + (a + b) / 2 * wide, left + half + 2), width - right - half);
    svg.append(h('text', { x: middle, y: height - bottom - 12, 'text-anchor': 'middle', ...text }, label));
  }
  for (const [v, label] of s.ticks_y)
    svg.append(h('line', { x1: left, x2: width - right, y1: s.y(v), y2: s.y(v), stroke: 'var(--line)' }),
      h('text', { x: left - 8, y: s.y(v) + 4, 'text-anchor': 'end', ...text }, label));
  for (const [x, label] of s.ticks_x)
    svg.append(h('line', { x1: s.x(x), x2: s.x(x), y1: height - bottom, y2: height - bottom + (label ? 6 : 3), stroke: 'var(--axis)' }),
      label ? h('text', { x: s.x(x), y: height - bottom + 19, 'text-anchor': 'middle', ...text }, label) : '');
  svg.append(h('path', { d: `M${left} ${top}V${height - bottom}H${width - right}`, fill: 'none', stroke: 'var(--axis)' }),
    h('text', { x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle', 'font-size': 13, fill: 'var(--ink)' }, spec.x_label || ''),
    h('text', { transform: `translate(14 ${(top + height - bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle', 'font-size': 13, fill: 'var(--ink)' }, (spec.y_label || '').slice(0, 60)));
  const bands = h('g', { 'clip-path': `url(#${clip})` }), paths = h('g', { 'clip-path': `url(#${clip})` });
  spec.curves.forEach((c, i) => {
    if (hidden.has(c.name) || !c.x.length) return;
    const order = c.x.map((_, k) => k).filter(k => c.y[k] !== null && Number.isFinite(c.y[k])).sort((a, b) => c.x[a] - c.x[b]);
    const at = (k, v) => `${s.x(c.x[k]).toFixed(1)} ${s.y(v).toFixed(1)}`;
    const end = (v, k) => v && v[k] !== null && Number.isFinite(v[k]) && !(spec.log_y && v[k] <= 0) ? v[k] : c.y[k];
    if (c.low && c.high && order.length > 1)
      bands.append(h('path', { d: 'M' + order.map(k => at(k, end(c.high, k))).join('L') + 'L' + [...order].reverse().map(k => at(k, end(c.low, k))).join('L') + 'Z', fill: LG.colour(i), 'fill-opacity': .18 }));
    else if (c.low && c.high && order.length)
      bands.append(h('path', { d: `M${at(order[0], end(c.low, order[0]))}L${at(order[0], end(c.high, order[0]))}`, stroke: LG.colour(i) }));
    if (order.length > 1)
      paths.append(h('path', { d: 'M' + order.map(k => at(k, c.y[k])).join('L'), fill: 'none', stroke: LG.colour(i), 'stroke-width': c.unlearned ? 1 : spec.steps ? 1.6 : 2, 'stroke-dasharray': LG.dash(i), 'stroke-linejoin': 'round' }));
    if (!spec.steps || order.length < 2) order.forEach(k => paths.append(LG.mark(i, s.x(c.x[k]), s.y(c.y[k]), c.unlearned)));
  });
  svg.append(bands, paths, h('line', { class: 'cursor only-screen', y1: top, y2: height - bottom, x1: 0, x2: 0, stroke: 'var(--axis)', 'stroke-dasharray': '3 3', visibility: 'hidden' }));
  return svg;
};

/* ---- Heat maps ---- */

/* spec: {title, x_label, y_label, caption, x, y, value: [n], trained_x, trained_y: [lo, hi]}. */
LG.heatmap = spec => {
  const xs = [...new Set(spec.x)].sort((a, b) => a - b), ys = [...new Set(spec.y)].sort((a, b) => a - b);
  const left = 70, top = 10, wide = Math.max(44, Math.min(90, 620 / xs.length)), high = 34;
  const width = left + wide * xs.length + 12, height = top + high * ys.length + 52, text = { fill: 'var(--soft)', 'font-size': 12, 'text-anchor': 'middle' };
  const svg = h('svg', { viewBox: `0 0 ${width} ${height}`, style: `max-width:${width}px`, role: 'img', 'aria-label': `${spec.title || 'Heat map'}: a value for each ${spec.x_label} and ${spec.y_label}; the table has all of them.` });
  const at = new Map(spec.x.map((x, i) => [x + ' ' + spec.y[i], spec.value[i]]));
  xs.forEach((x, c) => svg.append(h('text', { x: left + (c + .5) * wide, y: height - 30, ...text }, LG.number(x))));
  ys.forEach((y, r) => {
    const py = top + (ys.length - 1 - r) * high;
    svg.append(h('text', { ...text, x: left - 8, y: py + 22, 'text-anchor': 'end' }, LG.number(y)));
    xs.forEach((x, c) => {
      const v = at.get(x + ' ' + y);
      if (v === undefined) return;
      const shade = [255 - v * 255, 255 - v * 141, 255 - v * 77].map(Math.floor);
      svg.append(h('rect', { x: left + c * wide, y: py, width: wide, height: high, fill: `rgb(${shade})`, stroke: '#ffffff' }, h('title', {}, `${spec.x_label} ${LG.number(x)}, ${spec.y_label} ${LG.number(y)}: ${LG.percent(v)}`)),
        h('text', { x: left + (c + .5) * wide, y: py + 22, 'text-anchor': 'middle', 'font-size': 12, fill: v > .6 ? '#ffffff' : '#333333', 'pointer-events': 'none' }, (100 * v).toFixed(0)));
    });
  });
  const inside = (list, range) => list.map((v, i) => range && v >= range[0] && v <= range[1] ? i : -1).filter(i => i >= 0);
  const tx = inside(xs, spec.trained_x), ty = inside(ys, spec.trained_y);
  if (tx.length && ty.length)
    svg.append(h('rect', { x: left + tx[0] * wide, y: top + (ys.length - 1 - ty[ty.length - 1]) * high, width: tx.length * wide, height: ty.length * high, fill: 'none', stroke: 'var(--c1)', 'stroke-width': 3 }));
  svg.append(h('text', { ...text, fill: 'var(--ink)', 'font-size': 13, x: left + wide * xs.length / 2, y: height - 8 }, spec.x_label || ''),
    h('text', { transform: `translate(16 ${top + high * ys.length / 2}) rotate(-90)`, 'text-anchor': 'middle', 'font-size': 13, fill: 'var(--ink)' }, spec.y_label || ''));
  const rows = () => [[spec.x_label, spec.y_label, 'value'], ...spec.x.map((x, i) => [x, spec.y[i], spec.value[i]])];
  const table = () => LG.table([`${spec.y_label} \\ ${spec.x_label}`, ...xs.map(LG.number)], ys.map(y => [LG.number(y), ...xs.map(x => { const v = at.get(x + ' ' + y); return v === undefined ? '–' : LG.percent(v); })]), spec.title);
  const tools = LG.tools(spec.title, () => svg, rows, table);
  return h('figure', { class: 'chart' }, spec.title ? h('figcaption', {}, spec.title) : null, svg, tools.bar, tools.shown, spec.caption ? h('p', { class: 'soft' }, spec.caption) : null);
};
LG.figure = f => f.kind === 'map' ? LG.heatmap(f) : LG.chart(f);

/* ---- The page ---- */

/* Light, dark or as the system has it; kept for the next visit where that is allowed. */
LG.theme = () => {
  const names = ['system', 'light', 'dark'], root = document.documentElement;
  let now = 'system';
  try { now = localStorage.getItem('lengthen-theme') || 'system'; } catch (e) { /* a file may have no storage */ }
  const set = v => {
    if (v === 'system') delete root.dataset.theme; else root.dataset.theme = v;
    try { localStorage.setItem('lengthen-theme', v); } catch (e) { /* as above */ }
  };
  set(now);
  return h('label', { class: 'soft screen' }, 'Theme ', h('select', { id: 'theme', change: e => set(e.target.value) }, names.map(n => h('option', { value: n, selected: n === now }, n))));
};
