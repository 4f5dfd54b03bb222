import type { Group } from '../bench.ts';
import { coldStart } from './cold-start.ts';
import { remove } from './delete.ts';
import { encryption } from './encryption.ts';
import { garbage } from './garbage.ts';
import { get } from './get.ts';
import { history } from './history.ts';
import { leaseRenewal } from './lease-renewal.ts';
import { list } from './list.ts';
import { memory } from './memory.ts';
import { mixed } from './mixed.ts';
import { needle } from './needle.ts';
import { restartHerd } from './restart-herd.ts';
import { restore } from './restore.ts';
import { upkeep } from './upkeep.ts';
import { watch } from './watch.ts';
import { write } from './write.ts';

/** In the order of the report. */
export const GROUPS: readonly Group[] = [
  get,
  list,
  needle,
  write,
  encryption,
  remove,
  garbage,
  restore,
  history,
  leaseRenewal,
  watch,
  coldStart,
  restartHerd,
  upkeep,
  memory,
  mixed,
];
