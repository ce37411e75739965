'use strict';
/* The live page: the list of runs with filters, the selected ones side by side, a run's page. What changes is pushed by
 * the server (/api/events); curves that are shown are asked for again, in as few points as are drawn. */
LG.live = data => {
  const page = document.getElementById('page'), runs = new Map(), selected = new Set(), rows = new Map(), live = { charts: [], shown: [] };
  const status = h('span', { class: 'soft', role: 'status' }, 'connecting');
  const list = h('tbody', {}), view = h('section', { id: 'view', 'aria-label': 'Selected runs' }), filters = {};
  const names = { task: 'Task', positions: 'Positions', seed: 'Seed', state: 'State' };
  let opened = '';

  const get = async path => {
    const answer = await fetch(path), body = await answer.json();
    if (!answer.ok) throw new Error(body.error || answer.statusText);
    return body;
  };
  const fails = e => view.replaceChildren(h('p', { class: 'bad' }, e.message));

  /* ---- The list ---- */
  const fits = r => Object.entries(filters).every(([k, s]) => !s.value || String(r[k]) === s.value);
  const options = () => {
    for (const [k, s] of Object.entries(filters)) {
      const now = s.value, values = [...new Set([...runs.values()].map(r => String(r[k])))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
      if (s.dataset.values === values.join('\n')) continue;
      s.dataset.values = values.join('\n');
      s.replaceChildren(h('option', { value: '' }, 'all'), ...values.map(v => h('option', { value: v, selected: v === now }, v)));
    }
  };
  const row = r => {
    const box = h('input', { type: 'checkbox', 'aria-label': `Select ${r.name}, run ${r.number}`, change: e => { if (e.target.checked) selected.add(r.number); else selected.delete(r.number); choose(); } });
    box.checked = selected.has(r.number);
    const share = r.steps ? Math.min(1, r.step / r.steps) : 0;
    return h('tr', { 'data-run': r.number, class: selected.has(r.number) ? 'on' : null }, h('td', {}, box), h('td', { class: 'n' }, r.number),
      h('td', {}, h('a', { href: '#run=' + r.number }, r.name)), h('td', {}, r.task), h('td', {}, r.positions), h('td', { class: 'n' }, r.seed),
      h('td', { class: 'state' }, r.state), h('td', {}, h('span', { class: 'bar', 'aria-hidden': 'true' }, h('i', { style: `width:${100 * share}%` })), ` ${LG.number(r.step)} of ${LG.number(r.steps)}`),
      h('td', { class: 'n' }, r.loss === null ? '–' : r.loss.toPrecision(3)));
  };
  const fill = () => {
    const focus = document.activeElement && document.activeElement.closest('tr[data-run]');
    const shown = [...runs.values()].filter(fits).sort((a, b) => b.number - a.number);
    /* A row that has not changed stays, so that a click or the focus is not lost. */
    const now = shown.slice(0, 500).map(r => {
      const key = JSON.stringify([r, selected.has(r.number)]), old = rows.get(r.number);
      if (!old || old.key !== key) rows.set(r.number, { key, row: row(r) });
      return rows.get(r.number).row;
    });
    if (now.length !== list.children.length || now.some((r, i) => r !== list.children[i])) list.replaceChildren(...now);
    count.textContent = `${LG.number(shown.length)} of ${LG.number(runs.size)} runs${shown.length > 500 ? ', the newest 500 are listed' : ''}`;
    if (focus) { const again = list.querySelector(`tr[data-run="${focus.dataset.run}"] input`); if (again) again.focus(); }
  };
  const count = h('p', { class: 'soft', role: 'status' });
  const load = async () => {
    const all = (await get('/api/runs')).runs;
    runs.clear();
    all.forEach(r => runs.set(r.number, r));
    options();
    fill();
  };

  /* ---- What is shown below ---- */
  const choose = () => {
    fill();
    const numbers = [...selected].sort((a, b) => a - b);
    location.hash = numbers.length ? (numbers.length > 1 ? 'runs=' : 'run=') + numbers.join(',') : '';
  };
  const prompts = r => {
    const out = h('div', { class: 'generated' }), note = h('p', { class: 'soft', role: 'status' });
    const prompt = h('input', { type: 'text', name: 'prompt', size: 30, maxlength: 1500, placeholder: 'an example of the task' });
    const length = h('input', { type: 'number', name: 'length', min: 1, max: 10000, placeholder: String(r.length) });
    const source = h('select', { name: 'source' }, h('option', { value: '' }, 'as the run has it'), h('option', { value: 'predicted' }, 'predicted'), h('option', { value: 'given' }, 'given'));
    const go = async e => {
      e.preventDefault();
      const query = new URLSearchParams({ run: r.number });
      if (prompt.value.trim()) query.set('prompt', prompt.value); else if (length.value) query.set('length', length.value);
      if (source.value) query.set('source', source.value);
      note.textContent = 'The model answers.';
      try {
        const g = (await get('/api/generate?' + query)).generations;
        out.replaceChildren(LG.methodLegend(), ...g.map(LG.method));
        note.textContent = '';
      } catch (error) { note.textContent = error.message; }
    };
    return h('div', {}, h('h3', {}, 'See the method on this run'), h('form', { class: 'filters', submit: go }, h('label', {}, 'Prompt', prompt), h('label', {}, 'or length', length), h('label', {}, 'IDs', source), h('button', { type: 'submit' }, 'Draw')), note, out);
  };
  const passages = r => {
    const out = h('div', {}), note = h('p', { class: 'soft', role: 'status' });
    const go = async () => {
      note.textContent = 'The probe looks at a passage.';
      try { out.replaceChildren(LG.passage((await get('/api/passage?run=' + r.number)).passage)); note.textContent = ''; }
      catch (error) { note.textContent = error.message; }
    };
    return h('div', {}, h('h3', {}, 'Where predictions come from'), h('button', { type: 'button', click: go }, 'Draw a passage'), note, out);
  };
  const drawn = { answers: prompts, losses: passages }; // by the form of what is measured
  const show = async () => {
    const m = location.hash.match(/^#runs?=([\d,]+)$/), numbers = m ? m[1].split(',').map(Number).slice(0, 16) : [];
    opened = location.hash;
    selected.clear();
    numbers.forEach(n => selected.add(n));
    fill();
    live.charts = [];
    live.shown = [];
    if (!numbers.length) { view.replaceChildren(h('p', { class: 'soft' }, 'Select runs to see and compare them.')); return; }
    const mine = opened, shown = await Promise.all(numbers.map(n => get('/api/run?run=' + n)));
    if (mine !== location.hash) return;
    live.shown = shown;
    const head = h('h2', { tabindex: -1 }, shown.length > 1 ? `${shown.length} runs compared` : shown[0].name);
    const soft = shown.map(r => h('p', { class: 'soft' }, `${r.name}: run ${r.number}, `, h('span', { 'data-state': r.number }, r.state), `, ${r.task}, ${r.positions}, seed ${r.seed}. As a file: `, h('code', {}, `lengthen report ${r.number}`)));
    view.replaceChildren(head, ...soft, LG.runsView(shown, live), ...shown.map(r => drawn[r.form](r)));
  };

  /* ---- News ---- */
  let waiting = new Set(), timer = null;
  const refresh = async () => {
    timer = null;
    const numbers = [...waiting];
    waiting = new Set();
    try {
      const news = await get('/api/curves?runs=' + numbers.join(','));
      for (const n of news.runs) { const r = live.shown.find(x => x.number === n.number); if (r) r.curves = n.curves; }
      for (const [key, chart] of live.charts) chart.update(LG.curveSpec(live.shown, key));
    } catch (e) { status.textContent = e.message; }
  };
  const hear = news => {
    let ended = false;
    for (const r of news.runs) {
      const before = runs.get(r.number), shown = live.shown.find(x => x.number === r.number);
      runs.set(r.number, r);
      if (!shown || (before && before.step === r.step && before.state === r.state)) continue;
      ended = ended || (before && before.state === 'training' && r.state !== 'training');
      shown.step = r.step;
      shown.state = r.state;
      document.querySelectorAll(`[data-state="${r.number}"]`).forEach(e => { e.textContent = r.state; });
      document.querySelectorAll(`.run-answer[data-run="${r.number}"]`).forEach(e => e.replaceChildren(h('strong', {}, 'Answer. '), LG.runAnswer(shown)));
      waiting.add(r.number);
    }
    if (news.count !== undefined && news.count !== runs.size) load().catch(fails); else { options(); fill(); }
    if (ended) show().catch(fails);
    else if (waiting.size && !timer) timer = setTimeout(refresh, 700);
  };

  const select = k => filters[k] = h('select', { name: k, change: fill }, h('option', { value: '' }, 'all'));
  LG.add(page, h('header', { class: 'top' }, h('h1', {}, 'Runs'), h('span', {}, status, ' ', LG.theme())),
    h('p', { class: 'soft' }, `Store ${data.store}; lengthen ${data.version} (${data.commit})`),
    h('form', { class: 'filters', submit: e => e.preventDefault() }, Object.entries(names).map(([k, label]) => h('label', {}, label, select(k))), h('button', { type: 'button', click: () => { selected.clear(); choose(); } }, 'Clear selection')),
    count,
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The runs' }, h('table', { id: 'runs' }, h('thead', {}, h('tr', {}, ['select', 'run', 'name', 'task', 'positions', 'seed', 'state', 'step', 'loss'].map(t => h('th', { scope: 'col' }, t)))), list)),
    view);
  window.addEventListener('hashchange', () => { if (location.hash !== opened) show().catch(fails); });
  load().then(show).catch(fails);
  const events = new EventSource('/api/events');
  events.onopen = () => { status.textContent = 'live'; };
  events.onerror = () => { status.textContent = 'not connected; trying again'; };
  events.onmessage = e => hear(JSON.parse(e.data));
};
