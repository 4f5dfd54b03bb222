import { humanDuration } from '../object/ages.ts';
import type { Revision, Write } from './history-types.ts';
import { toShortName } from './named-object.ts';
import type { Paint } from './screen.ts';
import { toShown } from './shown-text.ts';

/** Formats authors, actions and times of writes. */

const DONE: ReadonlyMap<string, string> = new Map([
  ['create', 'created'],
  ['update', 'updated'],
  ['delete', 'deleted'],
]);

const two = (number: number): string => String(number).padStart(2, '0');

/** Local time: `2026-11-22 14:00:02`. */
export function toLocalTime(at: string | undefined): string {
  const date = new Date(at ?? '');
  if (Number.isNaN(date.getTime())) return 'at an unknown time';
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `at revision 4711`, `at 2026-11-22 14:00:02`: the time that a flag gave. */
export const toMoment = (at: string): string => `at ${/^\d+$/.test(at) ? `revision ${at}` : toLocalTime(at)}`;

/** `2m`, `3h5m`; empty for an unknown time. */
export function toAge(at: string | undefined, now: Date): string {
  const age = now.getTime() - Date.parse(at ?? '');
  // The server's clock may be ahead.
  return Number.isNaN(age) ? '' : humanDuration(Math.max(0, age));
}

export const toVerb = ({ verb = '' }: Write): string => DONE.get(verb) ?? toShown(verb);

export const toUser = ({ user }: Write, paint: Paint): string =>
  user ? paint('cyan', toShown(user)) : 'an unknown user';

/** ` via kubectl-edit`. */
const toMeans = ({ manager }: Write): string => (manager ? ` via ${toShown(manager)}` : '');

/** `alice via kubectl-edit`. */
export const toWriter = (write: Write, paint: Paint): string => toUser(write, paint) + toMeans(write);

/** `alice updated deployment.apps/web in shop via kubectl-edit`. */
export const toSentence = (write: Write, paint: Paint): string =>
  `${toUser(write, paint)} ${toVerb(write)} ${toObject(write, paint)}${toMeans(write)}`;

/** `deployment.apps/web`, and `in shop` unless that is the `known` namespace. */
export function toObject({ object = {} }: Write, paint: Paint, known?: string): string {
  const name = paint('bold', toShown(toShortName(object)));
  return object.namespace && object.namespace !== known ? `${name} in ${toShown(object.namespace)}` : name;
}

export const numberOf = ({ metadata }: Revision): string => toShown(metadata?.name ?? '?');

/** The state of everything just before a revision. */
export const before = (revision: string): string => String(BigInt(revision) - 1n);

/** Fields that controllers write as reports or notes, which a search for changes ignores. */
const ASIDE =
  /^(?:status|metadata\.(?:generation|managedFields|resourceVersion))(?:[.[]|$)|^metadata\.annotations\["deployment\.kubernetes\.io\//;

/** Whether a write changed more than reports. */
export const isChangeOfWish = ({ verb, changes }: Write): boolean =>
  verb !== 'update' || (changes ?? []).some(({ path = '' }) => !ASIDE.test(path));
