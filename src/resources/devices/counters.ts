import type {
  Counter,
  CounterSet,
  Device,
  DeviceCounterConsumption,
  ResourceSliceSpec,
} from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { mustBeName, mustBeNamed } from '../rules/name-rules.ts';
import { mustBeDistinct } from './device-names.ts';
import { hasAtMost } from './list-limits.ts';

/**
 * Counters that the devices of a pool share. Until 1.34, the sets stand in the slice whose devices take from them, and limits are
 * totals; since then, they stand in slices of their own, and each list has a limit.
 */

const MAX_COUNTERS = 32;
const MAX_SETS = 8;
const MAX_CONSUMPTIONS = 2;
/** Counters that all devices of a slice take together. */
const MAX_TAKEN = 1024;

type Counters = Readonly<Record<string, Counter>>;

const hasTotals = (at: FieldPath): boolean => at.minor < 35;

const isWithin = (at: FieldPath, most: number, items: readonly unknown[]): boolean =>
  hasTotals(at) || hasAtMost(at, most, items);

const countersIn = (sets: readonly { readonly counters?: Counters }[]): number =>
  sets.reduce((sum, { counters = {} }) => sum + Object.keys(counters).length, 0);

export function validateCounterSets(at: FieldPath, sets: readonly CounterSet[]): void {
  if (!isWithin(at, MAX_SETS, sets)) return;
  for (const [path, { name = '', counters }] of at.each(sets)) {
    mustBeNamed(path.field('name'), name, 'dns-label');
    validateCounters(path.field('counters'), counters);
  }
  mustBeDistinct(
    at,
    sets.map(({ name = '' }) => name),
    'name',
  );
  if (hasTotals(at)) mustNotExceed(at, 'shared counters', [countersIn(sets), MAX_COUNTERS]);
}

export function validateConsumptions(at: FieldPath, consumptions: readonly DeviceCounterConsumption[]): void {
  if (!isWithin(at, MAX_CONSUMPTIONS, consumptions)) return;
  for (const [path, { counterSet = '', counters }] of at.each(consumptions)) {
    if (counterSet === '') path.field('counterSet').required();
    else if (!hasTotals(at)) mustBeName(path.field('counterSet'), counterSet, 'dns-label');
    validateCounters(path.field('counters'), counters);
  }
  mustBeDistinct(
    at,
    consumptions.map(({ counterSet = '' }) => counterSet),
    'counterSet',
  );
}

function validateCounters(at: FieldPath, counters: Counters = {}): void {
  const names = Object.keys(counters);
  if (names.length === 0) at.required();
  else if (isWithin(at, MAX_COUNTERS, names))
    for (const name of names) mustBeName(keyPath(at, name), name, 'dns-label');
}

/** Where a wrong key of a map is reported: at the map since 1.36, before at its entry. */
export const keyPath = (map: FieldPath, key: string): FieldPath => (map.minor < 36 ? map.item(key) : map);

/** What is new in 1.35 about the slice as a whole, and what ended with 1.34. */
export function validateSharing(at: FieldPath, { devices, sharedCounters }: ResourceSliceSpec): void {
  if (hasTotals(at)) validateTotals(at.field('devices'), devices ?? [], sharedCounters ?? []);
  else if (sharedCounters !== undefined && devices !== undefined)
    at.invalid('', 'only one of `sharedCounters` or `devices` is allowed');
}

function validateTotals(at: FieldPath, devices: readonly Device[], sets: readonly CounterSet[]): void {
  const known = new Map(sets.map(({ name = '', counters = {} }) => [name, counters]));
  for (const [path, { consumesCounters = [] }] of at.each(devices)) {
    mustNotExceed(path, 'counters', [countersIn(consumesCounters), MAX_COUNTERS]);
    for (const [item, consumption] of path.field('consumesCounters').each(consumesCounters))
      mustBeKnown(item, consumption, known);
  }
  const taken = countersIn(devices.flatMap(({ consumesCounters = [] }) => consumesCounters));
  mustNotExceed(at, 'counters in devices', [taken, MAX_TAKEN]);
}

function mustBeKnown(
  at: FieldPath,
  { counterSet = '', counters = {} }: DeviceCounterConsumption,
  known: ReadonlyMap<string, Counters>,
): void {
  const set = known.get(counterSet);
  if (set === undefined)
    at.field('counterSet').invalid(
      counterSet,
      'must reference a counterSet defined in the ResourceSlice sharedCounters',
    );
  else
    for (const name of Object.keys(counters))
      if (!Object.hasOwn(set, name))
        at.field('counters').invalid(
          name,
          'must reference a counter defined in the ResourceSlice sharedCounters',
        );
}

function mustNotExceed(at: FieldPath, what: string, [amount, most]: readonly [number, number]): void {
  if (amount > most) at.invalid(amount, `the total number of ${what} must not exceed ${most}`);
}
