'use strict';
/* What a report and a run's page show: what was asked and the answer first, then the numbers behind it. */

/* ---- Pages of results: the little Markdown that they use ---- */

LG.inline = (text, images) => {
  const out = [], pattern = /!\[([^\]]*)\]\(([^)]+)\)|\[([^\]]+)\]\(([^)]+)\)|`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/g;
  let from = 0, m;
  while ((m = pattern.exec(text))) {
    out.push(text.slice(from, m.index));
    from = pattern.lastIndex;
    if (m[2] !== undefined) out.push(images && images[m[2]] ? h('img', { class: 'paper', alt: m[1], src: 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(images[m[2]]) }) : m[1]);
    else if (m[4] !== undefined) out.push(/^https?:/.test(m[4]) ? h('a', { href: m[4] }, m[3]) : m[3]);
    else if (m[5] !== undefined) out.push(h('code', {}, m[5]));
    else if (m[6] !== undefined) out.push(h('strong', {}, ...LG.inline(m[6], images)));
    else out.push(h('em', {}, m[7]));
  }
  out.push(text.slice(from));
  return out;
};
LG.markdown = (text, images) => {
  const box = h('div', {}), lines = text.split('\n'), starts = /^(#|\||- |\* |\d+\. |```)/;
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    if (!line.trim()) { i++; continue; }
    if (line.startsWith('```')) {
      const body = [];
      for (i++; i < lines.length && !lines[i].startsWith('```'); i++) body.push(lines[i]);
      i++;
      LG.add(box, h('pre', { class: 'wrapped' }, body.join('\n')));
    } else if (line.startsWith('#')) {
      const level = line.match(/^#+/)[0].length;
      if (level > 1) LG.add(box, h('h4', {}, ...LG.inline(line.slice(level).trim(), images)));
      i++;
    } else if (line.startsWith('|')) {
      const rows = [];
      for (; i < lines.length && lines[i].startsWith('|'); i++) rows.push(lines[i].replace(/^\||\|\s*$/g, '').split('|').map(c => c.trim()));
      const body = rows.filter((_, k) => k !== 1), right = rows[1] ? rows[1].map(c => c.endsWith(':')) : [];
      LG.add(box, h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'table' }, h('table', {},
        h('thead', {}, h('tr', {}, body[0].map((c, k) => h('th', { scope: 'col', class: right[k] ? 'n' : null }, ...LG.inline(c, images))))),
        h('tbody', {}, body.slice(1).map(r => h('tr', {}, r.map((c, k) => h('td', { class: right[k] ? 'n' : null }, ...LG.inline(c, images)))))))));
    } else if (/^(- |\* |\d+\. )/.test(line)) {
      const items = [];
      for (; i < lines.length && lines[i].trim() && !lines[i].startsWith('#'); i++) {
        if (/^(- |\* |\d+\. )/.test(lines[i])) items.push(lines[i].replace(/^(- |\* |\d+\. )/, ''));
        else items[items.length - 1] += ' ' + lines[i].trim();
      }
      LG.add(box, h('ul', {}, items.map(t => h('li', {}, ...LG.inline(t, images)))));
    } else {
      const words = [];
      do words.push(lines[i++].trim()); while (i < lines.length && lines[i].trim() && !starts.test(lines[i]));
      LG.add(box, h('p', {}, ...LG.inline(words.join(' '), images)));
    }
  }
  return box;
};

/* ---- A result: an experiment's committed rows ---- */

LG.result = r => {
  const id = 'result-' + LG.fileName(r.name), box = h('section', { class: 'result', id, 'aria-labelledby': id + '-title' });
  LG.add(box, h('h2', { id: id + '-title' }, r.name));
  if (r.question) LG.add(box, h('p', {}, h('strong', {}, 'Asked. '), r.question));
  const held = r.checks.filter(c => c.holds === 1).length, broken = r.checks.filter(c => c.holds === 0).length;
  const answer = h('div', { class: 'answer' });
  const seen = r.readme.match(/\n## What was seen\n([\s\S]*?)(?=\n## |$)/);
  if (r.checks.length) LG.add(answer, h('p', {}, h('strong', {}, 'Answer. '), 'The checks of the experiment: ', h('span', { class: broken ? 'bad' : 'good' }, `${held} of ${r.checks.length} hold`), '.'));
  if (seen) LG.add(answer, LG.markdown(seen[1].replace(/!\[[^\]]*\]\([^)]*\)/g, ''), null));
  if (answer.children.length) LG.add(box, answer);
  if (r.expected) LG.add(box, h('p', {}, h('strong', {}, 'Expected before the run. '), r.expected));
  if (r.figures.length) {
    LG.add(box, h('h3', {}, 'Figures'));
    r.figures.forEach(f => LG.add(box, LG.figure(f)));
  }
  if (r.checks.length) LG.add(box, h('h3', {}, 'Checks'), LG.table(['check', 'found', 'holds'], r.checks.map(c => [c.text, c.numbers, h('span', { class: c.holds === 0 ? 'bad' : c.holds > 0 ? 'good' : '' }, c.holds > 0 ? 'yes' : c.holds === 0 ? 'no' : 'no cells')]), 'Checks of ' + r.name));
  if (r.certificates.length) LG.add(box, h('h3', {}, 'Certificates'), LG.certificateRows(r.certificates));
  if (r.readme) LG.add(box, seen ? h('details', {}, h('summary', {}, 'The whole page: setup, limits, what it does not say'), LG.markdown(r.readme, r.images)) : LG.markdown(r.readme, r.images));
  if (r.made.length) LG.add(box, h('details', {}, h('summary', {}, `The ${r.made.length} runs and the commands that make them again`),
    LG.table(['run', 'steps', 'commit', 'kernels', 'hours', 'command'], r.made.map(m => [m.name, m.steps, m.commit, m.kernels, m.hours, h('code', {}, m.command)]), 'Runs of ' + r.name)));
  if (r.command) LG.add(box, h('p', {}, 'To regenerate: ', h('code', {}, r.command)));
  return box;
};
LG.certificateRows = rows => {
  const head = rows[0], at = name => head.indexOf(name), body = rows.slice(1);
  const yes = body.filter(r => r[at('certified')] === 'yes').length;
  return h('div', {}, h('p', {}, `${yes} of ${body.length} runs are certified: right on every input of every length.`),
    LG.table(head.slice(1), body.map(r => r.slice(1).map(v => v === '' ? '–' : v)), 'Certificates; a run that is not certified has its counterexample'));
};

/* ---- Runs ---- */

LG.runName = (r, all) => all && all.filter(o => o.name === r.name).length > 1 ? `${r.name} (${r.number})` : r.name;

LG.curveSpec = (runs, key, all) => {
  const label = { loss: 'loss, nats', accuracy: 'right tokens, %', id_loss: 'loss of the IDs, nats', id_accuracy: 'right IDs, %', lr: 'learning rate' }[key];
  const curves = runs.filter(r => r.curves && r.curves.step.length).map(r => {
    const c = r.curves, wide = c.thinned && c[key + '_low'];
    return { name: LG.runName(r, all || runs), x: c.step, y: c[key], low: wide ? c[key + '_low'] : null, high: wide ? c[key + '_high'] : null };
  });
  const share = /accuracy/.test(key), thinned = runs.some(r => r.curves && r.curves.thinned);
  return { title: share ? `${key === 'accuracy' ? 'Right tokens' : 'Right IDs'} in training` : `${key === 'loss' ? 'Loss' : 'Loss of the IDs'} in training`, x_label: 'step', y_label: label, steps: true, curves,
    log_y: !share, y_low: 0, y_high: 0, caption: thinned ? 'Each point is the mean of some neighbouring steps; the band is their range.' : '' };
};

/* Cells of one form as lines: [{name, cells}]; the name says what differs. */
LG.groups = (runs, form, parts) => {
  const all = runs.flatMap(r => (r.cells || []).filter(c => c.form === form).map(c => ({ run: r, c })));
  const words = {
    run: e => LG.runName(e.run, runs), ids: e => e.c.predicted ? 'predicted IDs' : 'given IDs', setting: e => e.c.setting || 'as trained',
    sparsity: e => e.c.sparsity ? `sparsity ${e.c.sparsity}` : '', length: e => `length ${e.c.length}`, context: e => e.c.context ? `context ${e.c.context}` : '',
  };
  const differing = parts.filter(p => new Set(all.map(words[p])).size > 1), groups = new Map();
  for (const e of all) {
    const key = parts.map(p => words[p](e)).join('|');
    if (!groups.has(key)) groups.set(key, { name: differing.map(p => words[p](e)).filter(Boolean).join(', ') || LG.runName(e.run, runs), run: e.run, cells: [] });
    groups.get(key).cells.push(e.c);
  }
  return [...groups.values()];
};
LG.valueOf = (c, kind) => c.values.find(v => v.kind === kind);
LG.cellCurve = (g, kind, x) => {
  const cells = g.cells.filter(c => LG.valueOf(c, kind) && LG.valueOf(c, kind).value !== null).sort((a, b) => x(a) - x(b)), of = f => cells.map(c => LG.valueOf(c, kind)[f]);
  const bands = of('low').some(v => v !== null);
  return { name: g.name, x: cells.map(x), y: of('value'), low: bands ? of('low') : null, high: bands ? of('high') : null };
};
LG.axis = spec => {
  const ys = spec.curves.flatMap(c => [...c.y, ...(c.low || []), ...(c.high || [])]).filter(v => v !== null && Number.isFinite(v));
  if (!ys.length) return spec;
  const lo = Math.min(...ys), hi = Math.max(...ys), unit = hi - lo > 5 ? 1 : hi - lo > .5 ? .5 : .1;
  spec.y_low = Math.floor(lo / unit) * unit;
  spec.y_high = Math.ceil(hi / unit + 1e-9) * unit;
  return spec;
};
LG.same = list => new Set(list.map(String)).size <= 1;

LG.answersView = runs => {
  const groups = LG.groups(runs, 'answers', ['run', 'setting', 'ids', 'sparsity']), box = h('div', {});
  if (!groups.length) return null;
  const kinds = [...new Map(groups.flatMap(g => g.cells.flatMap(c => c.values)).map(v => [v.kind, v])).values()];
  const unit = runs.map(r => r.unit).find(Boolean) || '', same = LG.same(runs.map(r => [r.least, r.length]));
  const spec = v => {
    const curves = groups.map(g => LG.cellCurve(g, v.kind, c => c.length)).map((c, i) => {
      const at = c.x.map((x, k) => x <= groups[i].run.length ? k : -1).filter(k => k >= 0).pop();
      const dense = groups[i].cells[0].sparsity > groups[i].run.sparsity && groups[i].run.sparsity > 0;
      return { ...c, unlearned: v.kind === 'exact' && at !== undefined && !dense && c.y[at] < .99 };
    }).filter(c => c.x.length);
    const s = { title: v.label[0].toUpperCase() + v.label.slice(1) + ' by length', x_label: unit && unit !== 'length' ? `length (${unit})` : 'length', y_label: v.unit === 'share' ? v.label + ', %' : `${v.label}, ${v.unit}`, curves, trained: same && runs[0].length ? [runs[0].least, runs[0].length] : null, y_low: 0, y_high: 0 };
    return v.unit === 'share' ? s : LG.axis(s);
  };
  const first = kinds.find(v => v.kind === 'exact') || kinds[0];
  const chart = LG.chart(spec(first));
  const select = h('select', { change: e => chart.update(spec(kinds.find(v => v.kind === e.target.value))) }, kinds.map(v => h('option', { value: v.kind, selected: v === first }, v.label)));
  LG.add(box, h('h3', {}, 'Answers by length'), kinds.length > 1 ? h('label', { class: 'soft screen' }, 'Measure ', select) : null, chart);
  for (const r of runs) for (const predicted of [0, 1]) {
    const cells = (r.cells || []).filter(c => c.form === 'answers' && c.predicted === predicted && !c.setting && c.sparsity && LG.valueOf(c, 'exact'));
    if (new Set(cells.map(c => c.sparsity)).size < 2) continue;
    LG.add(box, LG.heatmap({ title: `Exact answers of ${LG.runName(r, runs)}, ${predicted ? 'predicted' : 'given'} IDs`, x_label: 'length', y_label: 'sparsity', x: cells.map(c => c.length), y: cells.map(c => c.sparsity), value: cells.map(c => LG.valueOf(c, 'exact').value),
      trained_x: [r.least, r.length], trained_y: [1, r.sparsity], caption: 'Exact answers, %. Framed: what training shows.' }));
  }
  const pairs = [];
  for (const r of runs) for (const c of r.cells || []) {
    const other = c.form === 'answers' && c.predicted ? r.cells.find(o => o.form === 'answers' && !o.predicted && o.length === c.length && o.sparsity === c.sparsity && o.setting === c.setting) : null;
    const v = other && LG.valueOf(c, 'exact'), w = other && LG.valueOf(other, 'exact'), ids = other && LG.valueOf(c, 'id_accuracy');
    if (v && w) pairs.push([LG.runName(r, runs), c.length, c.sparsity || null, LG.percent(w.value), LG.percent(v.value), ids ? LG.percent(ids.value) : '–']);
  }
  if (pairs.length) LG.add(box, h('h3', {}, 'Given against predicted IDs'), LG.table(['run', 'length', 'sparsity', 'exact, given IDs', 'exact, predicted IDs', 'right IDs'], pairs, 'The same answers, with IDs of the rule and of the model'));
  return box;
};

LG.lossesView = runs => {
  const groups = LG.groups(runs, 'losses', ['run', 'setting', 'context', 'length']);
  if (!groups.length) return null;
  const kinds = [...new Map(groups.flatMap(g => g.cells.flatMap(c => c.values)).map(v => [v.kind, v])).values()];
  return h('div', {}, h('h3', {}, 'Loss by position'), kinds.map(v => LG.chart(LG.axis({ title: v.label[0].toUpperCase() + v.label.slice(1) + ' by position', x_label: 'position (tokens)', y_label: v.label + ', nats per token',
    curves: groups.map(g => LG.cellCurve(g, v.kind, c => c.last)).filter(c => c.x.length), trained: LG.same(runs.map(r => r.length)) && runs[0].length ? [1, runs[0].length] : null }))));
};
LG.probeView = runs => {
  const groups = LG.groups(runs, 'probe', ['run', 'setting', 'context', 'length']);
  if (!groups.length) return null;
  const bin = c => c.first === 0 && c.last === 0 ? 'none' : c.last === 0 ? `${c.first} and more` : c.first === c.last ? String(c.first) : `${c.first} to ${c.last}`;
  return h('div', {}, h('h3', {}, 'k*: how many earlier tokens predictions need'), groups.map(g => {
    const cells = [...g.cells].sort((a, b) => (a.first || 0) - (b.first || 0)), all = cells.reduce((s, c) => s + c.values[0].samples, 0);
    const binned = cells.filter(c => c.first > 0);
    return h('div', {}, binned.length ? LG.chart({ title: `Predictions by k*, ${g.name}`, x_label: 'k* (from)', y_label: 'share of all predictions, %', curves: [{ name: g.name, x: binned.map(c => c.first), y: binned.map(c => c.values[0].samples / all) }], y_low: 0, y_high: 0 }) : null,
      LG.table(['k*', 'predictions', ...cells[0].values.map(v => v.label + ', nats')], cells.map(c => [bin(c), c.values[0].samples, ...c.values.map(v => v.value === null ? '–' : v.value.toFixed(3))]), 'Predictions by k*, ' + g.name));
  }));
};

LG.certificateView = r => {
  const c = r.certificate;
  if (!c) return null;
  const tried = c.confirmed ? ` ${LG.number((c.confirmed.random || 0) + (c.confirmed.worst || 0))} inputs were answered to confirm it, ${LG.number(c.confirmed.wrong || 0)} of them wrong.` : '';
  return h('div', {}, h('h4', {}, r.name), c.certified
    ? h('p', {}, h('span', { class: 'good' }, 'Certified'), `: right on every input of every length. ${LG.number(c.contexts)} contexts, smallest margin ${(+c.min_margin).toPrecision(4)}.${tried}`)
    : h('p', {}, h('span', { class: 'bad' }, 'Not certified'), `: ${LG.number(c.wrong)} of ${LG.number(c.contexts)} contexts are wrong.`),
    c.input ? LG.table(['', 'tokens'], [['input', h('code', {}, c.input)], ['answer', h('code', {}, c.answer || '')], ['right', h('code', {}, c.right || '')]], 'A counterexample' + (c.shortest ? ', the shortest' : '')) : null,
    LG.table(['', ''], Object.entries(c).filter(([, v]) => typeof v !== 'object' && v !== '').map(([k, v]) => [k, String(v)]), 'The certificate'));
};

/* In words: what the run was asked and what it can do. */
LG.runAnswer = r => {
  const cells = (r.cells || []).filter(c => c.form === 'answers' && !c.setting && LG.valueOf(c, 'exact'));
  const predicted = cells.some(c => c.predicted), mine = cells.filter(c => !!c.predicted === predicted && (!c.sparsity || !r.sparsity || c.sparsity <= r.sparsity));
  const losses = (r.cells || []).filter(c => c.form === 'losses' && LG.valueOf(c, 'truncated'));
  const unit = r.unit && r.unit !== 'length' ? r.unit : '', who = predicted ? ' with IDs that it predicts itself' : '';
  const parts = [];
  if (mine.length) {
    const byLength = new Map();
    mine.forEach(c => byLength.set(c.length, Math.min(byLength.has(c.length) ? byLength.get(c.length) : 1, LG.valueOf(c, 'exact').value)));
    const lengths = [...byLength.keys()].sort((a, b) => a - b), last = lengths[lengths.length - 1];
    const short = lengths.filter(l => l <= r.length).pop();
    if (short !== undefined) parts.push(`${LG.percent(byLength.get(short))} exact at ${LG.number(short)} ${unit}, the longest that was tested of its training lengths.`);
    let far = null;
    for (const l of lengths) if (byLength.get(l) >= .99) far = l; else break;
    if (far !== null && far > r.length) parts.push(`At least 99% exact up to ${LG.number(far)} ${unit}, ${LG.number(+(far / r.length).toPrecision(3))} times its training length${who}.`);
    if (far === null || far < last) parts.push(`At ${LG.number(last)} ${unit}: ${LG.percent(byLength.get(last))} exact${who}.`);
  } else if (losses.length) {
    const longest = losses.reduce((a, b) => b.last > a.last ? b : a), v = LG.valueOf(longest, 'truncated');
    parts.push(`Loss ${v.value.toFixed(3)} nats per token at positions ${LG.number(longest.first)} to ${LG.number(longest.last)}; it was trained on ${LG.number(r.length)}.`);
  } else if (r.state === 'training') parts.push(`It is at step ${LG.number(r.step)} of ${LG.number(r.steps)}; nothing was evaluated yet.`);
  else parts.push('Nothing was evaluated yet: lengthen eval fills this in.');
  if (r.certificate) parts.push(r.certificate.certified ? 'Certified: right at every length.' : 'Not certified: the counterexample is below.');
  return parts.join(' ');
};
LG.runAsked = r => `Trained on ${r.task}, ${LG.number(r.least)} to ${LG.number(r.length)} ${r.unit && r.unit !== 'length' ? r.unit : 'long'}, with ${r.positions} positions: what does it make of longer ones?`;

LG.configView = (runs, differences) => {
  const box = h('div', {});
  if (runs.length > 1) LG.add(box, h('h3', {}, 'Where the configs differ'), differences.length
    ? LG.table(['key', ...runs.map(r => LG.runName(r, runs))], differences.map(d => [d[0], ...d.slice(1).map(v => v === null ? '–' : v)]), 'Keys with different values') : h('p', {}, 'The configs are the same.'));
  LG.add(box, h('h3', {}, runs.length > 1 ? 'Configs' : 'Config'), runs.map(r => h('details', {}, h('summary', {}, `${r.name}: ${r.config.length} keys, resolved`), LG.table(['key', 'value'], r.config.map(([k, v]) => [k, v]), 'Config of ' + r.name),
    h('p', { class: 'soft' }, `${r.machine}; kernels ${r.kernels || 'not known'}; ${LG.number(r.parameters)} parameters; ${LG.number(+(+r.seconds).toPrecision(3))} s; ID ${r.id}`))));
  return box;
};
LG.differences = runs => {
  const keys = [...new Set(runs.flatMap(r => r.config.map(c => c[0])))], maps = runs.map(r => new Map(r.config));
  return keys.map(k => [k, ...maps.map(m => m.has(k) ? m.get(k) : null)]).filter(row => !LG.same(row.slice(1)));
};

/* Everything about some runs, side by side. live: {curves(charts)} gets the charts that move. */
LG.runsView = (runs, live) => {
  const box = h('div', {});
  LG.add(box, h('div', { class: 'answer' }, runs.map(r => h('div', {}, h('p', {}, h('strong', {}, runs.length > 1 ? r.name + '. ' : 'Asked. '), LG.runAsked(r)), h('p', { class: 'run-answer', 'data-run': r.number }, h('strong', {}, 'Answer. '), LG.runAnswer(r)),
    r.error ? h('p', { class: 'bad' }, 'Failed: ' + r.error) : null))));
  const trained = runs.filter(r => r.curves && r.curves.step.length);
  if (trained.length || live) {
    const keys = ['loss', 'accuracy', ...(runs.some(r => r.curves && r.curves.id_loss.some(v => v > 0)) ? ['id_loss', 'id_accuracy'] : [])];
    const charts = keys.map(k => [k, LG.chart(LG.curveSpec(runs, k))]);
    LG.add(box, h('h3', {}, 'Training'), h('div', { class: 'grid' }, charts.map(c => c[1])));
    if (live) live.charts = charts;
  }
  for (const part of [LG.answersView(runs), LG.lossesView(runs), LG.probeView(runs)]) if (part) LG.add(box, part);
  const certificates = runs.map(LG.certificateView).filter(Boolean);
  if (certificates.length) LG.add(box, h('h3', {}, 'Certificates'), ...certificates);
  const generations = runs.flatMap(r => (r.generations || []).map(g => ({ ...g, title: runs.length > 1 ? `${r.name}: ${g.title || g.task}` : g.title || g.task })));
  if (generations.length) LG.add(box, h('h3', {}, 'What it writes, token by token and ID by ID'), LG.methodLegend(), ...generations.map(LG.method));
  const passages = runs.filter(r => r.passage);
  if (passages.length) LG.add(box, h('h3', {}, 'Where predictions come from'), ...passages.map(r => LG.passage(r.passage)));
  for (const r of runs) for (const t of r.texts || []) LG.add(box, h('h4', {}, `${r.name} goes on with a text`), h('pre', { class: 'wrapped' }, t));
  LG.add(box, LG.configView(runs, LG.differences(runs)));
  return box;
};

LG.report = data => {
  const wrap = document.getElementById('page');
  LG.add(wrap, h('header', { class: 'top' }, h('h1', {}, data.title), LG.theme()));
  LG.add(wrap, h('p', { class: 'soft' }, `Made ${data.made} by lengthen ${data.version} (${data.commit}). To regenerate: `, h('code', {}, data.command)));
  if (data.notes.length) LG.add(wrap, h('ul', { class: 'soft' }, data.notes.map(n => h('li', {}, n))));
  if (data.results.length > 1) {
    LG.add(wrap, h('nav', { class: 'toc', 'aria-label': 'Results' }, h('h2', {}, 'What was asked, and the answers'),
      LG.table(['result', 'asked', 'checks that hold'], data.results.map(r => [h('a', { href: '#result-' + LG.fileName(r.name) }, r.name), r.question || (r.readme.match(/\n\*\*Question\.\*\*\s+([\s\S]*?)\n\n/) || ['', (r.readme.match(/^# (.*)/) || ['', ''])[1]])[1].replace(/\n/g, ' '),
        r.checks.length ? `${r.checks.filter(c => c.holds === 1).length} of ${r.checks.length}` : '–']), 'Results in this file')));
  }
  if (data.runs.length) LG.add(wrap, h('section', { class: 'runs' }, h('h2', {}, data.runs.length > 1 ? `${data.runs.length} runs` : data.runs[0].name), LG.runsView(data.runs, null)));
  for (const r of data.results) LG.add(wrap, LG.result(r));
  if (data.methods.length) LG.add(wrap, LG.methodLegend(), ...data.methods.map(m => m.pieces ? LG.passage(m) : LG.method(m)));
};
