import type { JsonObject } from '../api/object-meta.ts';
import { StoredState } from '../codec/stored-state.ts';
import { endTurnIf, isLarge } from '../verbs/writing/call.ts';

type States = readonly [JsonObject | undefined, JsonObject | undefined];

/**
 * Of two states, those fields in which they may differ; of one alone, all. A large one is parsed in a turn of its own. `isWanted`:
 * of a field of the object, such as `spec`; what is not wanted is not parsed.
 */
export async function whatDiffers(
  before: Buffer | undefined,
  after: Buffer | undefined,
  isWanted: (field: string) => boolean = () => true,
): Promise<States> {
  const isPaced = isLarge((after ?? before)?.length ?? 0);
  if (before === undefined || after === undefined) {
    const [was, becomes] = [before, after].map((json) =>
      json === undefined ? undefined : StoredState.of(json).object,
    );
    await endTurnIf(isPaced);
    return [was, becomes];
  }
  const [was, becomes] = StoredState.pair(before, after);
  const names = was.differing(becomes);
  const wanted = names === undefined ? undefined : new Set([...names].filter(isWanted));
  const old = was.pick(wanted);
  await endTurnIf(isPaced);
  const now = becomes.pick(wanted);
  await endTurnIf(isPaced);
  return [old, now];
}
