// A data part of the application: named values as a small table, anything else as JSON.
import { Fold } from "./Fold";
import { JsonView } from "./JsonView";

/** More rows than this are read better as JSON. */
const ROWS_MAX = 8;

type Flat = [string, string | number | boolean | null][];

function flat(data: unknown): Flat | null {
  if (!data || typeof data !== "object" || Array.isArray(data)) return null;
  const entries = Object.entries(data);
  const simple = entries.every(([, value]) => value === null || typeof value !== "object");
  return simple && entries.length > 0 && entries.length <= ROWS_MAX ? (entries as Flat) : null;
}

export function DataPart({ name, data }: { name: string; data: unknown }) {
  const rows = flat(data);
  return (
    <Fold icon="data" title={<code className="tool-name">{name || "data"}</code>} note="Data" open={rows !== null}>
      {rows ? (
        <dl className="rows">
          {rows.map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <JsonView value={data} label={`data ${name}`} />
      )}
    </Fold>
  );
}
