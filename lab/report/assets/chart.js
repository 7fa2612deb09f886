// Draws what the page says in its data, with Apache ECharts: bars with intervals beside latencies, and lines. A
// chart is drawn when it comes near the screen, and again when its width or the colours change.
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const charts = new Map(); // by element

const narrow = () => matchMedia('(max-width: 699px)').matches;
const dark = matchMedia('(prefers-color-scheme: dark)');

// colours are those of the style sheet, in the present scheme.
function colours() {
  const style = getComputedStyle(document.documentElement);
  return name => style.getPropertyValue('--' + name).trim();
}
const family = getComputedStyle(document.body).fontFamily;

// widest is the room that the widest of some texts takes.
const pen = document.createElement('canvas').getContext('2d');
function widest(texts, size) {
  pen.font = `600 ${size}px ${family}`;
  return Math.max(...texts.map(s => pen.measureText(s).width));
}

// format writes a value with three digits in a unit of its size, as the tables do.
const steps = {
  number: [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k'], [0, '']],
  ns: [[3600e9, ' h'], [60e9, ' min'], [1e9, ' s'], [1e6, ' ms'], [1e3, ' µs'], [0, ' ns']],
  bytes: [[2 ** 40, ' TiB'], [2 ** 30, ' GiB'], [2 ** 20, ' MiB'], [2 ** 10, ' KiB'], [0, ' B']],
};
function format(unit, x) {
  const [size, name] = steps[unit].find(([size]) => Math.abs(x) >= size * 0.9995);
  const n = x / (size || 1);
  return (n === 0 ? '0' : String(Number(n.toPrecision(3)))) + name;
}
const nines = [[0, '0'], [Math.log10(2), '50%'], [1, '90%'], [2, '99%'], [3, '99.9%'], [4, '99.99%'], [4.5, 'max']];
const nineName = x => {
  const known = nines.find(([at]) => Math.abs(at - x) < 1e-6);
  return known ? known[1] : Number(((1 - 10 ** -x) * 100).toPrecision(4)) + '%';
};
const axisName = (axis, x) => axis.unit === 'share' ? nineName(x) : format(axis.unit, x);

// tip makes what is shown of one contender: as nodes, so that no name is taken for HTML.
function tip(title, rows) {
  const box = document.createElement('div');
  box.className = 'tip';
  const name = box.appendChild(document.createElement('b'));
  name.textContent = title;
  const list = box.appendChild(document.createElement('dl'));
  for (const [term, value] of rows) {
    list.appendChild(document.createElement('dt')).textContent = term;
    list.appendChild(document.createElement('dd')).textContent = value;
  }
  return box;
}

// base is what all charts have in common.
function base(colour) {
  return {
    animation: false,
    textStyle: {fontFamily: family, fontSize: 12, color: colour('ink')},
    tooltip: {
      confine: true, transitionDuration: 0, backgroundColor: colour('page'), borderColor: colour('line'), padding: [6, 10],
      extraCssText: 'white-space: normal; max-width: min(22rem, 82vw)',
      textStyle: {color: colour('ink'), fontFamily: family},
    },
  };
}
function axisStyle(colour, lines) {
  return {
    axisLine: {show: false}, axisTick: {show: false},
    axisLabel: {color: colour('soft'), fontSize: 11, hideOverlap: true},
    nameTextStyle: {color: colour('soft'), fontSize: 11},
    splitLine: {show: lines, lineStyle: {color: colour('line'), opacity: 0.7}},
  };
}

// bounds of a logarithmic axis: a little beyond the values.
function bounds(values) {
  return {min: Math.min(...values) / 1.3, max: Math.max(...values) * 1.3};
}
// decades are the powers of ten on such an axis, and their halves where there are few.
function decades(min, max, factors = [1]) {
  const ticks = [];
  for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) {
    for (const f of factors) if (f * 10 ** e >= min && f * 10 ** e <= max) ticks.push(f * 10 ** e);
  }
  return ticks.length < 2 && factors.length === 1 ? decades(min, max, [1, 2, 5]) : ticks;
}
function logAxis(values, most = 9) {
  const {min, max} = bounds(values);
  let ticks = decades(min, max);
  while (ticks.length > most) ticks = ticks.filter((_, i) => i % 2 === 0);
  return {type: 'log', min, max, axisTick: {show: false, customValues: ticks}, ticks};
}

// barChart draws a row for each contender: on the left its rate, a bar, or a point where the scale is logarithmic, with its interval and its
// number, and on the right its latencies. On a narrow screen the latencies stand below, and each name above its row.
function barChart(chart, c, colour, width) {
  const small = narrow(), n = c.rows.length, timed = c.rows.some(r => r.latency);
  const names = c.rows.map(r => r.name);
  const label = small ? 0 : Math.min(200, widest(names, 12) + 14);
  const pitch = small ? 38 : 26, head = 8, tail = 36, gap = 64;
  const room = width - label - gap;
  const left = {left: small ? 2 : label, top: head, width: timed && !small ? room * 0.56 - 20 : room, height: n * pitch};
  const right = small
    ? {left: 2, top: head + n * pitch + tail + 34, width: width - 14, height: n * pitch}
    : {left: label + room * 0.56 + gap, top: head, width: room * 0.44 - 12, height: n * pitch};
  const colourOf = r => colour(r.family), ours = r => r.family === 'ours';
  const rates = c.log
    ? {...axisStyle(colour, true), ...logAxis(c.rows.flatMap(r => [r.value, r.hi, r.lo > 0 ? r.lo : r.value]), small ? 4 : 6)}
    : {...axisStyle(colour, true), type: 'value', min: 0, splitNumber: small ? 3 : 5};
  rates.axisLabel = {...rates.axisLabel, formatter: x => format('number', x)};
  if (rates.ticks) rates.axisLabel.customValues = rates.ticks;
  const rowAxis = {
    type: 'category', inverse: true, data: names, axisLine: {show: false}, axisTick: {show: false}, axisLabel: {show: false},
    axisPointer: {show: true, type: 'shadow', label: {show: false}, shadowStyle: {color: colour('ink'), opacity: 0.06}},
  };

  // name is the row's name, which stands beside its bar, or above where there is no room.
  const name = (r, x, y) => ({
    type: 'text', silent: true,
    style: {
      text: r.name, x: small ? 0 : x - 10, y: small ? y - pitch / 2 + 3 : y, align: small ? 'left' : 'right', verticalAlign: small ? 'top' : 'middle',
      fill: ours(r) ? colour('ours') : colour('ink'), fontSize: 12, fontFamily: family, fontWeight: ours(r) ? 600 : 400,
      width: small ? width - 80 : label - 11, overflow: 'truncate',
    },
  });
  const mid = y => small ? y + 8 : y;
  const drawRate = (params, api) => {
    const r = c.rows[params.dataIndex], box = params.coordSys;
    const at = v => Math.max(box.x, api.coord([v, params.dataIndex])[0]);
    const row = api.coord([r.value, params.dataIndex])[1], y = mid(row), x = at(r.value), fill = colourOf(r);
    const whisker = {stroke: colour('ink'), lineWidth: 1.2};
    const line = (x1, y1, x2, y2, style) => ({type: 'line', shape: {x1, y1, x2, y2}, style, silent: true});
    const children = [name(r, box.x, row)];
    if (c.log) {
      children.push(line(box.x, y, x, y, {stroke: fill, lineWidth: 1, opacity: 0.35}));
    } else {
      children.push({type: 'rect', shape: {x: box.x, y: y - 6, width: Math.max(1, x - box.x), height: 12, r: [0, 2, 2, 0]}, style: {fill, opacity: ours(r) ? 1 : 0.82}});
    }
    if (r.hi > r.lo) {
      children.push(line(at(r.lo), y, at(r.hi), y, whisker));
      for (const end of [at(r.lo), at(r.hi)]) children.push(line(end, y - 3, end, y + 3, whisker));
    }
    if (c.log) children.push({type: 'circle', shape: {cx: x, cy: y, r: 4.5}, style: {fill, stroke: colour('page'), lineWidth: 1}});
    children.push({
      type: 'text', silent: true,
      style: {text: r.text, x: small ? width - 2 : box.x + box.width + gap - 12, y: y, align: 'right', verticalAlign: 'middle', fill: colour('ink'), fontSize: 12, fontFamily: family, fontWeight: ours(r) ? 600 : 400},
    });
    return {type: 'group', children};
  };
  const drawLatency = (params, api) => {
    const r = c.rows[params.dataIndex], box = params.coordSys;
    const row = api.coord([1, params.dataIndex])[1], y = mid(row), fill = colourOf(r);
    const children = small ? [name(r, box.x, row)] : [];
    if (r.latency) {
      const [p50, p90, p99, max] = r.latency.map(v => api.coord([v, params.dataIndex])[0]);
      const line = (x1, x2, lineWidth, opacity) => ({type: 'line', shape: {x1, y1: y, x2, y2: y}, style: {stroke: fill, lineWidth, opacity}, silent: true});
      children.push(line(p50, max, 1.2, 0.7), line(p50, p99, 3, 0.6), line(p50, p90, 7, 0.5));
      children.push({type: 'line', shape: {x1: max, y1: y - 3, x2: max, y2: y + 3}, style: {stroke: fill, lineWidth: 1.2}, silent: true});
      children.push({type: 'circle', shape: {cx: p50, cy: y, r: 4}, style: {fill, stroke: colour('page'), lineWidth: 1}});
    }
    return {type: 'group', children};
  };
  const custom = (renderItem, index, values, ends) => ({
    type: 'custom', renderItem, xAxisIndex: index, yAxisIndex: index, clip: false, encode: {x: [0, 2], y: 1},
    data: values.map((v, i) => [v, i, ends[i]]),
  });
  const times = timed && {...axisStyle(colour, true), ...logAxis(c.rows.flatMap(r => r.latency || []), 5)};
  if (times) times.axisLabel = {...times.axisLabel, formatter: x => format('ns', x), customValues: times.ticks};
  const title = (axis, text) => ({...axis, position: 'bottom', name: text, nameLocation: 'middle', nameGap: 22});
  chart.setOption({
    ...base(colour),
    grid: timed ? [left, right] : [left],
    xAxis: [title({...rates, gridIndex: 0}, c.unit + (c.log ? ', logarithmic' : ''))].concat(timed ? [title({...times, gridIndex: 1}, 'latency of ' + (/^[aeiou]/.test(c.span) ? 'an ' : 'a ') + c.span + ': ● p50  ▬ p90  ━ p99  ┤ max')] : []),
    yAxis: [{...rowAxis, gridIndex: 0}].concat(timed ? [{...rowAxis, gridIndex: 1}] : []),
    axisPointer: {link: [{yAxisIndex: 'all'}], triggerTooltip: true},
    series: [custom(drawRate, 0, c.rows.map(r => r.value), c.rows.map(r => r.hi))].concat(timed ? [custom(drawLatency, 1, c.rows.map(r => r.latency ? r.latency[0] : NaN), c.rows.map(r => r.latency ? r.latency[3] : NaN))] : []),
    tooltip: {
      ...base(colour).tooltip, trigger: 'axis', axisPointer: {type: 'shadow'},
      formatter: items => {
        const r = c.rows[items[0].dataIndex];
        const rows = [[c.unit, r.text], ['interval', r.range]];
        if (r.latency) ['p50', 'p90', 'p99', 'max'].forEach((p, i) => rows.push([p, format('ns', r.latency[i])]));
        return tip(r.name, rows);
      },
    },
  }, true);
}

// spread moves labels up and down until none covers another, as little as can be: places that are too near each other become a block,
// around the mean of where its labels would be (the pool of adjacent violators).
function spread(places, pitch, top, bottom) {
  const order = places.map((y, i) => [y, i]).sort((a, b) => a[0] - b[0]);
  const blocks = [];
  order.forEach(([y, i], k) => {
    let block = {sum: y - k * pitch, members: [i]};
    const mean = b => b.sum / b.members.length;
    while (blocks.length && mean(blocks.at(-1)) > mean(block)) {
      const before = blocks.pop();
      block = {sum: before.sum + block.sum, members: before.members.concat(block.members)};
    }
    blocks.push(block);
  });
  const last = bottom - (places.length - 1) * pitch, out = [];
  let k = 0;
  for (const b of blocks) {
    const y = Math.max(top, Math.min(b.sum / b.members.length, last));
    for (const i of b.members) out[i] = y + pitch * k++;
  }
  return out;
}

// lineChart draws a line for each contender, with its name at the end.
function lineChart(chart, c, colour, width) {
  const small = narrow(), pitch = 14, lead = 22;
  const xs = [...new Set(c.lines.flatMap(l => l.points.map(p => p[0])))].sort((a, b) => a - b);
  const ys = c.lines.flatMap(l => l.points.map(p => p[1]));
  const label = Math.min(small ? 84 : 180, widest(c.lines.map(l => l.name), 11) + 4);
  const x = {...axisStyle(colour, false), name: c.x.title + (c.x.unit === 'share' ? ' that took no longer' : ''), nameLocation: 'middle', nameGap: 26};
  if (c.x.unit === 'share') {
    const ticks = nines.map(([at]) => at).filter(at => !small || at !== 4 && at !== 0);
    Object.assign(x, {type: 'value', min: 0, max: 4.5, axisLabel: {...x.axisLabel, customValues: ticks, formatter: nineName, hideOverlap: true}});
  } else if (c.x.log) {
    Object.assign(x, {type: 'log', min: xs[0], max: xs[xs.length - 1], axisLabel: {...x.axisLabel, customValues: xs, formatter: v => format(c.x.unit, v)}});
  } else {
    Object.assign(x, {type: 'value', min: xs[0], max: xs[xs.length - 1], axisLabel: {...x.axisLabel, customValues: xs, formatter: v => format(c.x.unit, v)}});
  }
  const y = {...axisStyle(colour, true), name: c.y.title + (c.y.log ? ', logarithmic' : ''), nameLocation: 'end', nameGap: 10};
  y.nameTextStyle = {...y.nameTextStyle, align: 'left', padding: [0, 0, 0, -46]};
  if (c.y.log) {
    const log = logAxis(ys);
    Object.assign(y, {type: 'log', min: log.min, max: log.max, axisLabel: {...y.axisLabel, customValues: log.ticks, formatter: v => format(c.y.unit, v)}});
  } else {
    Object.assign(y, {type: 'value', min: 0, axisLabel: {...y.axisLabel, formatter: v => format(c.y.unit, v)}});
  }
  const ends = c.lines.map(l => l.points.at(-1));
  let places;
  const drawNames = (params, api) => {
    const i = params.dataIndex, l = c.lines[i], ours = l.family === 'ours', box = params.coordSys, right = box.x + box.width;
    if (i === 0) places = spread(ends.map(end => api.coord(end)[1]), pitch, box.y, box.y + box.height);
    const [x, y] = api.coord(ends[i]);
    return {type: 'group', children: [
      {type: 'polyline', shape: {points: [[x + 4, y], [right + 6, y], [right + lead - 4, places[i]]]}, style: {stroke: colour(l.family), lineWidth: 1, opacity: 0.5, fill: null}, blur: {style: {opacity: 0.2}}},
      {type: 'text', style: {
        text: l.name, x: right + lead, y: places[i], verticalAlign: 'middle', fill: colour(ours ? 'ours' : 'ink'), fontSize: 11, fontFamily: family,
        fontWeight: ours ? 600 : 400, width: label, overflow: 'truncate',
      }, blur: {style: {opacity: 1}}},
    ]};
  };
  const dashes = ['solid', [6, 3], [2, 2], [8, 3, 2, 3]];
  const nth = {};
  chart.setOption({
    ...base(colour),
    grid: {left: 54, right: label + lead + 2, top: 34, bottom: 44},
    xAxis: x, yAxis: y,
    tooltip: {
      ...base(colour).tooltip, trigger: 'item',
      formatter: item => tip(item.seriesName, [[c.x.title, axisName(c.x, item.value[0])], [c.y.title, axisName(c.y, item.value[1])]]),
    },
    series: c.lines.map(l => {
      const ours = l.family === 'ours', nthOf = nth[l.family] = (nth[l.family] ?? -1) + 1;
      return {
        type: 'line', name: l.name, data: l.points, symbol: 'circle', symbolSize: c.x.unit === 'share' ? 4 : 7, showAllSymbol: true, z: ours ? 4 : 2,
        lineStyle: {width: ours ? 3 : 1.6, type: dashes[nthOf % dashes.length], opacity: ours ? 1 : 0.75}, itemStyle: {color: colour(l.family)}, color: colour(l.family),
        emphasis: {focus: 'series', lineStyle: {width: 3.5}}, blur: {lineStyle: {opacity: 0.12}},
      };
    }).concat({type: 'custom', renderItem: drawNames, data: ends, encode: {x: 0, y: 1}, clip: false, silent: true, z: 5, tooltip: {show: false}}),
  }, true);
}

// groupChart draws a group of bars for each contender, one for each file system, or points where the scale is logarithmic, with intervals and numbers.
// On a narrow screen the name stands above the group.
function groupChart(chart, c, colour, width) {
  const small = narrow(), n = c.parts.length, thick = 14;
  const label = small ? 0 : Math.min(200, widest(c.rows.map(r => r.name), 12) + 14), gap = 64;
  const above = small ? 24 : 6, pitch = n * thick + (small ? 32 : 12);
  const bars = c.rows.flatMap(r => r.bars.filter(b => b));
  const rates = c.log
    ? {...axisStyle(colour, true), ...logAxis(bars.flatMap(b => [b.value, b.hi, b.lo > 0 ? b.lo : b.value]), small ? 4 : 8)}
    : {...axisStyle(colour, true), type: 'value', min: 0, splitNumber: small ? 3 : 6};
  rates.axisLabel = {...rates.axisLabel, formatter: x => format('number', x)};
  if (rates.ticks) rates.axisLabel.customValues = rates.ticks;
  const drawRow = (params, api) => {
    const i = params.dataIndex, r = c.rows[i], ours = r.family === 'ours', box = params.coordSys, top = box.y + i * pitch;
    const at = v => Math.max(box.x, api.coord([v, i])[0]);
    const line = (x1, y1, x2, y2, style) => ({type: 'line', shape: {x1, y1, x2, y2}, style, silent: true});
    const text = (text, x, y, align, fill, more) => ({type: 'text', silent: true, style: {text, x, y, align, verticalAlign: 'middle', fill, fontSize: 12, fontFamily: family, fontWeight: ours ? 600 : 400, ...more}});
    const children = [text(
      r.name, small ? 0 : box.x - 10, small ? top + 13 : top + pitch / 2, small ? 'left' : 'right', colour(ours ? 'ours' : 'ink'),
      {width: small ? width : label - 11, overflow: 'truncate'},
    )];
    r.bars.forEach((b, k) => {
      if (!b) return;
      const y = top + above + (k + 0.5) * thick, x = at(b.value), fill = colour('s' + c.parts[k].colour), whisker = {stroke: colour('ink'), lineWidth: 1.2};
      if (c.log) children.push(line(box.x, y, x, y, {stroke: fill, lineWidth: 1, opacity: 0.35}));
      else children.push({type: 'rect', shape: {x: box.x, y: y - 5.5, width: Math.max(1, x - box.x), height: 11, r: [0, 2, 2, 0]}, style: {fill, opacity: 0.9}});
      if (b.hi > b.lo) {
        children.push(line(at(b.lo), y, at(b.hi), y, whisker));
        for (const end of [at(b.lo), at(b.hi)]) children.push(line(end, y - 3, end, y + 3, whisker));
      }
      if (c.log) children.push({type: 'circle', shape: {cx: x, cy: y, r: 4.5}, style: {fill, stroke: colour('page'), lineWidth: 1}});
      children.push(text(b.text, small ? width - 2 : box.x + box.width + gap - 8, y, 'right', colour('ink')));
    });
    return {type: 'group', children};
  };
  chart.setOption({
    ...base(colour),
    grid: {left: small ? 2 : label, top: 4, width: width - label - gap, height: c.rows.length * pitch},
    xAxis: {...rates, position: 'bottom', name: c.unit + (c.log ? ', logarithmic' : ''), nameLocation: 'middle', nameGap: 22},
    yAxis: {
      type: 'category', inverse: true, data: c.rows.map(r => r.name), axisLine: {show: false}, axisTick: {show: false}, axisLabel: {show: false},
      axisPointer: {show: true, type: 'shadow', label: {show: false}, shadowStyle: {color: colour('ink'), opacity: 0.06}},
    },
    series: [{
      type: 'custom', renderItem: drawRow, clip: false, encode: {x: [0, 2], y: 1},
      data: c.rows.map((r, i) => {
        const there = r.bars.filter(b => b);
        return [Math.min(...there.map(b => b.value)), i, Math.max(...there.map(b => b.hi))];
      }),
    }],
    tooltip: {
      ...base(colour).tooltip, trigger: 'axis', axisPointer: {type: 'shadow'},
      formatter: items => {
        const r = c.rows[items[0].dataIndex];
        return tip(r.name, c.parts.flatMap((p, k) => r.bars[k] ? [[p.name, r.bars[k].text], ['', r.bars[k].range]] : [[p.name, 'no figures']]));
      },
    },
  }, true);
}

const kinds = {groups: groupChart, bars: barChart, lines: lineChart};

function draw(element) {
  const c = data[element.id], width = element.clientWidth;
  if (!c || width === 0) return;
  if (c.kind === 'bars') element.classList.toggle('single', !c.rows.some(r => r.latency));
  let chart = charts.get(element);
  if (!chart) {
    chart = echarts.init(element, null, {renderer: 'svg'});
    charts.set(element, chart);
  }
  chart.resize();
  kinds[c.kind](chart, c, colours(), width);
  element.dataset.drawn = width;
}

const elements = [...document.querySelectorAll('[data-chart]')];
const near = new IntersectionObserver(entries => {
  for (const e of entries) {
    if (e.isIntersecting && !charts.has(e.target)) draw(e.target);
  }
}, {rootMargin: '600px'});
const sized = new ResizeObserver(entries => {
  for (const e of entries) {
    if (charts.has(e.target) && e.target.clientWidth !== Number(e.target.dataset.drawn)) draw(e.target);
  }
});
if (narrow()) for (const e of document.querySelectorAll('details.figures, #contents')) e.open = false;
for (const e of elements) {
  near.observe(e);
  sized.observe(e);
}
dark.addEventListener('change', () => charts.forEach((_, e) => draw(e)));
addEventListener('beforeprint', () => elements.forEach(draw));
})();
