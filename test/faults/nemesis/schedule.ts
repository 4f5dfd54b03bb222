import type { Random } from '../random.ts';
import { DATABASE_FAULTS } from './database-faults.ts';
import type { Fault } from './fault.ts';
import { HISTORY_FAULTS } from './history-faults.ts';
import { NETWORK_FAULTS } from './network-faults.ts';
import { SERVER_FAULTS, UPGRADE } from './server-faults.ts';
import { UPKEEP_FAULTS } from './upkeep-faults.ts';

export const FAULTS: readonly Fault[] = [
  ...[...NETWORK_FAULTS, ...SERVER_FAULTS, ...DATABASE_FAULTS],
  ...[...HISTORY_FAULTS, ...UPKEEP_FAULTS],
];

const FAULTS_BEFORE_UPGRADE = 3;

/** @throws Error that names those that do not exist */
export function chooseFaults(only: readonly string[]): readonly Fault[] {
  if (only.length === 0) return FAULTS;
  const unknown = only.filter((name) => FAULTS.every((fault) => fault.name !== name));
  if (unknown.length > 0) {
    const all = FAULTS.map(({ name }) => name).join(', ');
    throw new Error(`there is no fault ${unknown.join(', ')}: choose from ${all}`);
  }
  return only.flatMap((name) => FAULTS.filter((fault) => fault.name === name));
}

/** All of them in one order after the other, so that none is left out for long and each meets all others. */
export function* scheduleOf(faults: readonly Fault[], random: Random): Generator<Fault, void> {
  for (;;) yield* random.shuffled(faults);
}

/** Others happen before the upgrade of each server, so that both versions, and each alone, meet some. */
export function* scheduleOfUpgrade(others: Generator<Fault, void>, servers: number): Generator<Fault> {
  for (let upgraded = 0; upgraded < servers; upgraded += 1) {
    for (let at = 0; at < FAULTS_BEFORE_UPGRADE; at += 1) {
      const { value } = others.next();
      if (value !== undefined) yield value;
    }
    yield UPGRADE;
  }
  yield* others;
}
