import type { JSX } from 'preact';

/** The sign of the page: a clock that runs backwards. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" />
      <path d="M8.2 13.4A8.6 8.6 0 1 1 7.4 16.6M7.6 8.6v5h5M16 11.2v5l3.4 2.1" />
    </svg>
  );
}
