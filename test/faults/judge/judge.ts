import { judgeHistory } from './history-rules.ts';
import { judgeReads } from './read-rules.ts';
import type { Finding, Record } from './record.ts';
import { judgeWatches } from './watch-rules.ts';
import { judgeLog, judgeOrder, judgeOutcomes, judgeShown, judgeUniqueness } from './write-rules.ts';

/** Everything that a run has shown to be broken; empty when all promises were kept. */
export function judge(record: Record): Finding[] {
  return [
    ...judgeOutcomes(record),
    ...judgeShown(record),
    ...judgeUniqueness(record),
    ...judgeOrder(record),
    ...judgeLog(record),
    ...judgeReads(record),
    ...judgeWatches(record),
    ...judgeHistory(record),
    ...judgeFinalLists(record),
  ];
}

/** When all is over and well, every server shows what the log says. */
function* judgeFinalLists({ log, finalLists }: Record): Generator<Finding> {
  const state = new Map<string, bigint>();
  for (const { key, verb, revision } of log) {
    if (verb === 'delete') state.delete(key);
    else state.set(key, revision);
  }
  for (const { server, items } of finalLists) {
    const shown = new Map(items.map(({ key, revision }) => [key, revision]));
    for (const key of new Set([...state.keys(), ...shown.keys()]))
      if (state.get(key) !== shown.get(key))
        yield {
          rule: 'every server shows what the log says',
          facts: `server ${server} shows ${key} at ${shown.get(key) ?? 'nothing'}, it is ${state.get(key) ?? 'nothing'}`,
        };
  }
}
