import { computed, signal } from '@preact/signals';
import { serverNow } from '../api/ask.ts';
import { MINUTE, SECOND } from '../model/moments.ts';
import { asOf } from './place.ts';

/** The server's time, updated each second while the page is visible. */
export const now = signal(serverNow());

setInterval(() => {
  if (!document.hidden) now.value = serverNow();
}, SECOND);

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.value = serverNow();
});

/** Changes once a minute. */
export const minute = computed(() => Math.floor(now.value / MINUTE));

/** Known times of revisions, to show the time of a page at a revision. */
export const momentOfRevision = signal<ReadonlyMap<string, number>>(new Map());

/** The time that the page shows; undefined for a revision whose time is unknown. */
export const shownAt = computed<number | undefined>(() => {
  const text = asOf.value;
  if (text === undefined) return now.value;
  const at = /^\d+$/.test(text) ? momentOfRevision.value.get(text) : Date.parse(text);
  return at === undefined || Number.isNaN(at) ? undefined : at;
});
