// Where an answer comes from.
import type { SourceDocumentUIPart, SourceUrlUIPart } from "ai";
import { host, safeLink } from "../markdown/links";
import { Icon } from "../shell/Icon";

export type Source = SourceUrlUIPart | SourceDocumentUIPart;

export function Sources({ sources }: { sources: Source[] }) {
  if (sources.length === 0) return null;
  return (
    <aside className="sources" aria-label="Sources">
      <h4>Sources</h4>
      <ol>
        {sources.map((source, index) => {
          const href = source.type === "source-url" ? safeLink(source.url) : null;
          const title = source.title || (source.type === "source-url" ? host(source.url) : source.filename) || "Source";
          const origin = source.type === "source-url" ? host(source.url) : source.mediaType;
          const body = (
            <>
              <span className="source-number">{index + 1}</span>
              <span className="source-title">{title}</span>
              <span className="source-origin">{origin}</span>
            </>
          );
          return (
            <li key={`${source.sourceId} ${index}`}>
              {href ? (
                <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
                  {body}
                  <Icon name="link" size={13} />
                </a>
              ) : (
                <span>{body}</span>
              )}
            </li>
          );
        })}
      </ol>
    </aside>
  );
}
