// A file: a picture if it is one, else its name and kind.
import { safeLink, safePicture } from "../markdown/links";
import { Icon } from "../shell/Icon";

type File = { url: string; mediaType: string; filename?: string };

/** What people call a file of that kind: by the end of its name, else by its media type. */
const kind = ({ filename, mediaType }: File) =>
  (/\.(\w{1,5})$/.exec(filename ?? "")?.[1] ?? mediaType.split(";")[0]?.split("/").pop())?.toUpperCase() || "FILE";

/** Files that are in their address are saved, as bytes of no kind: a page or a script among them is never opened. */
function href(file: File): string | null {
  const [, encoded] = /^data:[^,]*?(;base64)?,/i.exec(file.url) ?? [null];
  if (encoded === null) return safeLink(file.url);
  return `data:application/octet-stream${encoded ?? ""}${file.url.slice(file.url.indexOf(","))}`;
}

/** Where our own server keeps a file, it may be shown: nobody else is asked. */
function picture(file: File): string | null {
  if (!file.mediaType.startsWith("image/") || file.mediaType.startsWith("image/svg")) return null;
  if (safePicture(file.url)) return file.url;
  try {
    return new URL(file.url, document.baseURI).origin === window.location.origin ? file.url : null;
  } catch {
    return null;
  }
}

export function Attachment({ file, onRemove }: { file: File; onRemove?: () => void }) {
  const shown = picture(file);
  const name = file.filename || (shown ? "Picture" : "File");
  const target = href(file);
  const body = shown ? (
    <img src={shown} alt={name} />
  ) : (
    <>
      <Icon name="file" />
      <span className="attachment-name">{name}</span>
      <span className="attachment-kind">{kind(file)}</span>
    </>
  );
  return (
    <div className={shown ? "attachment picture" : "attachment"}>
      {target && !onRemove ? (
        <a href={target} download={/^data:/i.test(target) ? name : undefined} target="_blank" rel="noopener noreferrer">
          {body}
        </a>
      ) : (
        body
      )}
      {onRemove && (
        <button type="button" className="remove" aria-label={`Remove ${name}`} onClick={onRemove}>
          <Icon name="close" size={13} />
        </button>
      )}
    </div>
  );
}
