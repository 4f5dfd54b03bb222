import { badRequest } from '../api/status.ts';
import { parseRfc3339 } from '../object/rfc3339.ts';
import { failureOf } from '../storage/errors.ts';
import type { History } from '../storage/history.ts';
import { parseRevision, type Revision } from '../storage/revision.ts';
import { expired } from './storage-status.ts';

/**
 * Reads the past: `?asOf=<revision or moment>` of a get or a list, which no other Kubernetes API server has. The answer is that
 * of a get or an unchunked list at that time, in every form, except that ages in Tables count to the present. The right to read
 * the object now includes its past, but not an earlier life of its name or namespace (incarnations.ts).
 */
export type AsOf =
  | { readonly kind: 'revision'; readonly revision: Revision }
  | { readonly kind: 'moment'; readonly at: string };

/** The fraction of a second; PostgreSQL takes no more than nine digits. */
const MOMENT = /^[^.]*(\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** PostgreSQL formats earlier years differently. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');

/** Undefined: the present. @throws StatusError 400 */
export function readAsOf(query: URLSearchParams): AsOf | undefined {
  const text = query.get('asOf');
  if (text === null || text === '') return undefined;
  if (query.get('resourceVersion'))
    throw invalidPast('asOf', text, 'may not be given beside resourceVersion');
  return parseAsOf('asOf', text);
}

/** Parses a revision or a moment. @throws StatusError 400 */
export function parseAsOf(name: string, text: string): AsOf {
  const asOf = toAsOf(text);
  if (typeof asOf === 'string') throw invalidPast(name, text, asOf);
  return asOf;
}

/** Parses a revision or a moment; returns a message when it is invalid. */
export function toAsOf(text: string): AsOf | string {
  const revision = /^\d+$/.test(text) ? parseRevision(text) : undefined;
  if (revision !== undefined && revision > 0n) return { kind: 'revision', revision };
  const moment = toMoment(text);
  return moment === undefined
    ? 'must be a revision, or a moment such as 2026-01-31T12:00:00Z'
    : { kind: 'moment', at: moment };
}

/** The moment in UTC, in its original precision; undefined for an invalid date. */
function toMoment(text: string): string | undefined {
  const [whole, fraction = ''] = MOMENT.exec(text) ?? [];
  const atMs = whole === undefined ? undefined : parseRfc3339(text);
  if (atMs === undefined || atMs < FIRST_MS) return undefined;
  return `${new Date(atMs).toISOString().slice(0, 19)}${fraction}Z`;
}

/** Refuses asOf for verbs that would ignore it. @throws StatusError 400 */
export function refuseAsOf(query: URLSearchParams): void {
  const text = query.get('asOf') ?? '';
  if (text !== '') throw invalidPast('asOf', text, 'only get and list can look back');
}

const invalidPast = (name: string, text: string, why: string): Error =>
  badRequest(`${name}: Invalid value: ${JSON.stringify(text)}: ${why}`);

/** Where a request names the moment, for what it hears of it. */
interface AskedAt {
  /** The parameter, or the path of the field. */
  readonly field: string;
  /** Makes the refusal of a value. */
  refuse?(field: string, value: string, why: string): Error;
}

/** The newest revision at that time; undefined: before history. @throws the refusal of a future moment */
export async function revisionOf(
  asOf: AsOf,
  history: Pick<History, 'revisionAt'>,
  { field, refuse = invalidPast }: AskedAt,
): Promise<Revision | undefined> {
  if (asOf.kind === 'revision') return asOf.revision;
  const revision = await history.revisionAt(asOf.at);
  if (revision === 'future') throw refuse(field, asOf.at, 'is in the future');
  return revision;
}

/**
 * Reads the state at a past moment.
 * @throws StatusError 410 with the begin of history; the refusal of a future moment
 */
export async function readPast<Result>(
  asOf: AsOf,
  history: Pick<History, 'revisionAt' | 'begin'>,
  read: (revision: Revision) => Promise<Result>,
  asked: AskedAt = { field: 'asOf' },
): Promise<Result> {
  try {
    const revision = await revisionOf(asOf, history, asked);
    if (revision !== undefined) return await read(revision);
  } catch (error) {
    if (failureOf(error, 'compacted') === undefined) throw error;
  }
  throw await beforeHistory(asked.field, history);
}

/** A 410 with the begin of history. `asked`: the parameter that asks for an earlier time. */
export async function beforeHistory(asked: string, history: Pick<History, 'begin'>): Promise<Error> {
  const { revision, at } = await history.begin();
  const moment = at === undefined ? '' : ` (${at.toISOString()})`;
  return expired(`${asked}: history is kept from revision ${revision}${moment}`);
}
