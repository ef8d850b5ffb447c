// The sign of the house: an answer that turns back.
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M23 9v5a4 4 0 0 1-4 4h-8m0 0 4.500-4.500M11 18l4.500 4.500" />
    </svg>
  );
}
