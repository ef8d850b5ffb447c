// One plot by uPlot: bars side by side or stacked, or lines, over keys that stand at equal distances.
import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Chart, Series } from "./measures";

const HEIGHT_PX = 190;
const DAY_PX = 78;
const NAME_PX = 58;
const LETTER_PX = 6.2;
const MARGIN = 0.6;

/** Between the lines of what is counted: no half turns. */
const WHOLE = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

type Props = { title: string; chart: Chart; lines: boolean; whole: boolean; show: (value: number) => string; keyName: (key: string) => string };

const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Counts the changes of the colours: a canvas does not take part in the style sheet. */
function useColours(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const changed = () => setVersion((count) => count + 1);
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", changed);
    return () => {
      observer.disconnect();
      system.removeEventListener("change", changed);
    };
  }, []);
  return version;
}

/** What is drawn of each series: itself, or on top of those before it. */
function heights({ series, stacked, keys }: Chart): (number | null)[][] {
  if (!stacked) return series.map(({ values }) => values);
  const reached = keys.map(() => 0);
  return series.map(({ values }) => values.map((value, index) => (reached[index]! += value ?? 0)));
}

const isDay = (key: string | undefined) => /^\d{4}-\d\d-\d\d$/.test(key ?? "");

/** As many labels as there is room for, the last key always among them. */
function labelled(keys: string[], width: number): number[] {
  const stride = Math.max(1, Math.ceil((keys.length * (isDay(keys[0]) ? DAY_PX : NAME_PX)) / Math.max(1, width)));
  const last = keys.length - 1;
  return keys.map((_, index) => index).filter((index) => (last - index) % stride === 0);
}

function seriesOptions({ chart, lines }: Props, order: number[]): uPlot.Series[] {
  const side = chart.stacked ? 1 : chart.series.length;
  return order.map((index) => {
    const colour = colourOf(chart.series[index]!.colour);
    if (lines) return { stroke: colour, width: 2, spanGaps: true, points: { show: true, size: 6, fill: colour } };
    const share = 0.72 / side;
    const align = chart.stacked || side === 1 ? 0 : index === 0 ? -1 : 1;
    return { fill: colour, stroke: colour, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [share, 42], align, radius: chart.stacked ? 0 : 0.12 }) };
  });
}

function axes({ chart, whole, show, keyName }: Props): uPlot.Axis[] {
  const ink = colourOf("--ink-faint");
  const line = { stroke: colourOf("--line"), width: 1 };
  const font = "11px Inter, system-ui, sans-serif";
  // A name is cut to the room that it has; a reason (`failed: provider`) stands on two lines.
  const fitted = (name: string, letters: number) =>
    name.split(/(?<=:) /).map((line) => (line.length > letters ? `${line.slice(0, letters - 1)}…` : line)).join("\n");
  const lines = Math.max(...chart.keys.map((key) => keyName(key).split(": ").length));
  return [
    {
      stroke: ink,
      font,
      grid: { show: false },
      ticks: { show: false },
      gap: 6,
      size: 14 + 14 * lines,
      splits: (plot) => labelled(chart.keys, plot.bbox.width / devicePixelRatio),
      values: (plot, splits) => {
        const letters = Math.max(7, Math.floor(plot.bbox.width / devicePixelRatio / Math.max(1, splits.length) / LETTER_PX));
        return splits.map((index) => fitted(keyName(chart.keys[index] ?? ""), letters));
      },
    },
    { stroke: ink, font, grid: line, ticks: { show: false }, gap: 6, size: 58, incrs: whole ? WHOLE : undefined, values: (_, splits) => splits.map(show) },
  ];
}

export function Plot(props: Props) {
  const { title, chart, lines, show, keyName } = props;
  const box = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState<number | null>(null);
  const colours = useColours();
  const empty = chart.series.every(({ values }) => values.every((value) => !value));
  const shown = useMemo(() => chart.series.filter(({ values }) => chart.series.length === 1 || values.some((value) => value)), [chart]);

  useEffect(() => {
    const node = box.current;
    if (!node || empty) return;
    const drawn = { ...props, chart: { ...chart, series: shown } };
    // Of a stack the highest is drawn first, and the lower ones over it.
    const order = shown.map((_, index) => (chart.stacked ? shown.length - 1 - index : index));
    const all = heights(drawn.chart);
    const options: uPlot.Options = {
      width: node.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      padding: [8, 26, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { show: lines } },
      scales: {
        x: { time: false, range: () => [-MARGIN, chart.keys.length - 1 + MARGIN] },
        y: { range: (_, __, most) => [0, (most || 1) * 1.08] },
      },
      axes: axes(drawn),
      series: [{}, ...seriesOptions(drawn, order)],
      hooks: { setCursor: [(plot) => setOver(plot.cursor.idx ?? null)] },
    };
    const plot = new uPlot(options, [chart.keys.map((_, index) => index), ...order.map((index) => all[index]!)], node);
    const observer = new ResizeObserver(() => plot.setSize({ width: node.clientWidth, height: HEIGHT_PX }));
    observer.observe(node);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
    // The functions of the props say the same for the same chart.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [chart, shown, lines, colours, empty]);

  if (empty) return <p className="plot-none">Nothing to show in this range.</p>;
  const at = over !== null && over < chart.keys.length ? over : null;
  return (
    <>
      <Legend series={shown} at={at} keyName={at === null ? "" : keyName(chart.keys[at]!)} show={show} />
      <div className="plot" ref={box} aria-hidden="true" />
      <details className="plot-table">
        <summary>As a table</summary>
        <div className="table-wrap facts" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                {shown.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {chart.keys.map((key, index) =>
                shown.some(({ values }) => values[index]) ? (
                  <tr key={key}>
                    <th scope="row">{keyName(key)}</th>
                    {shown.map(({ name, values }) => (
                      <td key={name}>{values[index] == null ? "–" : show(values[index])}</td>
                    ))}
                  </tr>
                ) : null,
              )}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

function Legend({ series, at, keyName, show }: { series: Series[]; at: number | null; keyName: string; show: (value: number) => string }) {
  return (
    <ul className="legend">
      {series.map(({ name, colour, values }) => (
        <li key={name}>
          <i className={`swatch ${colour.slice(2)}`} /> {name}
          {at !== null && <b>{values[at] == null ? "–" : show(values[at])}</b>}
        </li>
      ))}
      {at !== null && <li className="legend-key">{keyName}</li>}
    </ul>
  );
}
