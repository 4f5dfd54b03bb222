import type { JsonObject } from '../api/object-meta.ts';
import { StoredState } from '../codec/stored-state.ts';
import { endTurn, inOwnTurn, isLarge } from '../util/turns.ts';

type States = readonly [JsonObject | undefined, JsonObject | undefined];

/**
 * Parses the top-level fields in which two states may differ, or all fields of a single state. Parses a large state in
 * a turn of its own. Skips top-level fields, such as `spec`, that `isWanted` rejects.
 */
export async function parseDiffering(
  before: Buffer | undefined,
  after: Buffer | undefined,
  isWanted: (field: string) => boolean = () => true,
): Promise<States> {
  const large = isLarge((after ?? before)?.length ?? 0);
  if (before === undefined || after === undefined) {
    const [was, becomes] = [before, after].map((json) =>
      json === undefined ? undefined : StoredState.of(json).object,
    );
    if (large) await endTurn();
    return [was, becomes];
  }
  const [was, becomes] = StoredState.pair(before, after);
  const names = was.differing(becomes);
  const wanted = names === undefined ? undefined : new Set([...names].filter(isWanted));
  const old = was.pick(wanted);
  const now = await inOwnTurn(large, () => becomes.pick(wanted));
  if (large) await endTurn();
  return [old, now];
}
