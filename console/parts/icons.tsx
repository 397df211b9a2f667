/** The icons, each by its strokes in a square of 24. */
const STROKES = {
  make: 'M5 19 15 9m-1-5 1 2 2 1-2 1-1 2-1-2-2-1 2-1zM19 12l.7 1.3L21 14l-1.3.7L19 16l-.7-1.3L17 14l1.3-.7z',
  requests: 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z',
  balance: 'M4 7h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zm0 0a2 2 0 0 1 2-2h10M16 13h.01',
  'end-users':
    'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm-6 8c.5-3 3-5 6-5s5.5 2 6 5M16 5.5a3 3 0 0 1 0 5M18 14.5c1.5.7 2.6 2.300 3 4.5',
  operator: 'M12 3l8 3v6c0 4.5-3.300 7.7-8 9-4.7-1.300-8-4.5-8-9V6zM9 12l2 2 4-4',
  docs: 'M6 4h9l4 4v12H6zM14 4v5h5M9 13h6M9 16h6',
  upload: 'M12 16V5m-4 4 4-4 4 4M5 19h14',
  download: 'M12 5v11m-4-4 4 4 4-4M5 19h14',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 5M15.5 9h.01',
  video: 'M4 6h11v12H4zM15 10.5l5-3v9l-5-3',
  audio:
    'M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zm10-2a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  remove: 'M6 6l12 12M18 6 6 18',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5',
  use: 'M4 12h11m-4-4 4 4-4 4M15 5h5v14h-5',
  again: 'M5 12a7 7 0 1 1 2 5M5 18v-4h4',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 20 20',
  table: 'M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14',
} as const;

/** The name of an icon. */
export type IconName = keyof typeof STROKES;

/** An icon, for the eye only: words beside it say the same. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={STROKES[name]} />
  </svg>
);
