// Draws the charts of a page: each element with `data-chart` gets stacked bars. The same figures stand in its tables.

const css = getComputedStyle(document.documentElement);
const colour = (name) => css.getPropertyValue(name).trim();
const drawn = new Map();

function stacked(series) {
  const sums = [];
  for (const values of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => value + (below ? below[index] : 0)));
  }
  return sums;
}

function options(chart, element) {
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const bars = chart.series.map((_, index) => ({
    fill: colour(`--series-${index + 1}`),
    points: { show: false },
    paths: uPlot.paths.bars({ size: [0.7, 60] }),
  }));
  return {
    width: element.clientWidth,
    height: 220,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: [-0.5, chart.labels.length - 0.5] }, y: { range: (_, __, most) => [0, most || 1] } },
    series: [{}, ...bars.reverse()],
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 60,
        incrs: [1, 2, 4, 7, 14],
        values: (_, places) => places.map((place) => (chart.labels[place] ?? "").replace(/^\d{4}-/, "")),
      },
      { ...axis, size: 70, label: chart.unit, labelSize: 22 },
    ],
  };
}

function draw(element) {
  drawn.get(element)?.destroy();
  const chart = JSON.parse(element.dataset.chart);
  const data = [chart.labels.map((_, index) => index), ...stacked(chart.series).reverse()];
  drawn.set(element, new uPlot(options(chart, element), data, element));
}

const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.isConnected && drawn.get(target)?.width !== target.clientWidth) draw(target);
  }
});

function find() {
  for (const element of drawn.keys()) {
    if (!element.isConnected) {
      drawn.get(element).destroy();
      drawn.delete(element);
      resized.unobserve(element);
    }
  }
  for (const element of document.querySelectorAll("[data-chart]")) {
    if (!drawn.has(element)) resized.observe(element);
  }
}

document.body.addEventListener("htmx:afterSettle", find);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => [...drawn.keys()].forEach(draw));
find();
