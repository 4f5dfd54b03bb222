import type { HistoryClient } from './history-client.ts';
import { nameOf, type ObjectPlace, placeOf, selectorOf } from './last-change.ts';
import { pathOf, toShortName } from './named-object.ts';
import type { Scope } from './scope.ts';
import { PLAIN } from './screen.ts';
import type { Session } from './session.ts';
import { CommandError } from './usage-error.ts';
import { numberOf, toAge, toLocalTime, toUser } from './write-texts.ts';

/** Messages about missing history, so that an empty answer is not taken for "no change". */

/** `History is kept from revision 278 on (2026-11-22 23:32:54, 5m ago).` Empty while history is complete. */
async function keptSince(history: HistoryClient, now: Date): Promise<string> {
  const oldest = await history.oldest();
  if (oldest === undefined) return '';
  return `History is kept from revision ${oldest.revision} on (${toLocalTime(oldest.at)}, ${toAge(oldest.at, now)} ago).`;
}

/** Who deleted a missing object, and how to restore it; undefined: it was not deleted. */
export async function deletionOf(
  history: HistoryClient,
  place: ObjectPlace,
  now: Date,
): Promise<string | undefined> {
  const [newest] = await history.revisions({ fields: selectorOf(place), limit: 1 });
  if (newest?.verb !== 'delete') return undefined;
  const { resource, name } = place.object;
  const scope = place.namespace === '' ? '' : ` -n ${place.namespace}`;
  const short = toShortName({ ...resource, name });
  return (
    `${toUser(newest, PLAIN)} deleted it ${toAge(newest.at, now)} ago (revision ${numberOf(newest)}). ` +
    `Bring it back: kubectl history restore ${short}${scope}`
  );
}

/** Why history has no revision of an object. @throws ServerError when the caller may not read the object */
export async function noRevisions(
  history: HistoryClient,
  place: ObjectPlace,
  now: Date,
): Promise<CommandError> {
  const known = (await isThere(history, place))
    ? 'was not changed in the time that is kept.'
    : 'is not there, and history has no trace of it.';
  return new CommandError(`${nameOf(place)} ${known} ${await keptSince(history, now)}`.trim());
}

const isThere = async (history: HistoryClient, place: ObjectPlace): Promise<boolean> =>
  (await history.object(
    pathOf(place.object, place.namespace === '' ? undefined : place.namespace),
    undefined,
  )) !== undefined;

/** Explains an empty list. @throws CommandError for an object that does not exist or is unreadable to the caller */
export async function noteEmpty(
  { screen, now }: Session,
  history: HistoryClient,
  scope: Scope,
  words = 'No changes found.',
): Promise<void> {
  const { named, namespace = '', query } = scope;
  const { since, until, fields = {} } = query;
  if (scope.isOneObject && named?.name !== undefined) {
    const place = placeOf({ ...named, name: named.name }, namespace);
    const isFiltered = [since, until, fields.user, fields.manager, fields.verb].some(
      (given) => given !== undefined,
    );
    if (!(await isThere(history, place)) && !isFiltered) throw await noRevisions(history, place, now);
  }
  const readable = scope.isOneObject ? '' : 'Objects that you may not read are left out.';
  screen.note([words, readable, await keptSince(history, now)].filter((text) => text !== '').join(' '));
}
