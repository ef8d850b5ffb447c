// The icons: one stroke, one size, drawn here.
const PATHS = {
  plus: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14Zm5 12 4 4",
  send: "M12 19V5m0 0-6 6m6-6 6 6",
  stop: "M7 7h10v10H7z",
  attach: "m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.5 3.5 0 0 1 5 5l-8.5 8.5a2 2 0 0 1-3-3L14 7",
  copy: "M9 9h10v10H9zM5 15V5h10",
  check: "m5 12.5 4.5 4.5L19 7",
  close: "M6 6l12 12M18 6 6 18",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  retry: "M20 12a8 8 0 1 1-2.5-5.8M20 4v5h-5",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  left: "m14 6-6 6 6 6",
  right: "m10 6 6 6-6 6",
  down: "m6 9 6 6 6-6",
  newest: "M12 5v14m0 0-6-6m6 6 6-6",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  tool: "M14.5 6.5a4 4 0 0 0-5.3 5L4 16.7 7.3 20l5.2-5.2a4 4 0 0 0 5-5.3L15 12l-3-3z",
  thought: "M12 3a6 6 0 0 1 3.5 10.9V17h-7v-3.1A6 6 0 0 1 12 3ZM9.5 20.5h5",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.300l-1.500 1.500M14 10a4 4 0 0 0-5.700 0l-3 3A4 4 0 0 0 11 18.700l1.500-1.500",
  file: "M7 3h7l5 5v13H7zM14 3v5h5",
  data: "M12 4c4 0 7 1.200 7 2.700v10.600c0 1.500-3 2.700-7 2.700s-7-1.200-7-2.700V6.700C5 5.200 8 4 12 4Zm-7 3c0 1.500 3 2.700 7 2.700S19 8.500 19 7M5 12c0 1.500 3 2.700 7 2.700s7-1.200 7-2.700",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8ZM12 2v2m0 16v2M2 12h2m16 0h2M5 5l1.400 1.400m11.200 11.200L19 19M5 19l1.400-1.400M17.600 6.400 19 5",
  moon: "M20 14.500A8 8 0 0 1 9.500 4a8 8 0 1 0 10.500 10.500Z",
  system: "M4 5h16v11H4zM9 20h6m-3-4v4",
  inspect: "M4 6h8M8 12h9M14 18h6M4 3v18",
  chart: "M4 20h16M7 16v-4m5 4V5m5 11V9",
  chat: "M4 5h16v11H10l-4 4v-4H4z",
  warning: "M12 4 2.500 20h19zM12 10v4m0 3h.01",
  play: "M8 5v14l11-7z",
  pause: "M8 5v14M16 5v14",
  step: "M6 5v14l9-7zM18 5v14",
  download: "M12 4v11m0 0-5-5m5 5 5-5M5 20h14",
  key: "M3 7h18v10H3zM7 13h10M7 10h.01M11 10h.01M15 10h.01",
  custom: "M12 3 4 7.500v9L12 21l8-4.500v-9zM4 7.500l8 4.500 8-4.500M12 12v9",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
