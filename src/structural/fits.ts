import type { JsonObject, JsonValue } from '../api/json.ts';
import { fitsNumber } from './number-formats.ts';
import { EFFORT_OF_VALUE, effortOf, MAX_EFFORT_AT_ONCE, patternOf } from './patterns.ts';
import {
  divides,
  exceeds,
  fallsBelow,
  hasDuplicates,
  hasFewerThan,
  hasMoreThan,
  isAmong,
} from './scalar-keywords.ts';
import { typeOf, type ValueRules } from './value-rules.ts';

/**
 * Tests whether a value is valid, without finding errors: nearly all values are valid, and for those this allocates no objects
 * or texts. Gives up after too long ({@link OutOfTime}).
 */

/**
 * Values to visit: ten milliseconds' worth. They are counted rather than timed, because the fallback costs several times as
 * much and must not run more often on a busy machine.
 */
const FUEL = 200_000;
/** Pattern searches take microseconds to milliseconds, so the clock is checked after each. */
const MAX_MS = 8;

class OutOfTime extends Error {}

/** A shared instance: it is never shown, and a stack trace takes longer than many validations. */
const outOfTime = new OutOfTime();

/** Undefined: it takes too long. */
export function fits(value: JsonValue, rules: ValueRules, checksNumbers = false): boolean | undefined {
  const check = new Check(checksNumbers);
  try {
    return check.value(value, rules);
  } catch (error) {
    if (error === outOfTime) return undefined;
    throw error;
  }
}

class Check {
  #fuel = FUEL;
  readonly #begunMs = performance.now();
  readonly #checksNumbers: boolean;

  constructor(checksNumbers: boolean) {
    this.#checksNumbers = checksNumbers;
  }

  #spend(cost: number): void {
    this.#fuel -= cost;
    if (this.#fuel < 0) throw outOfTime;
  }

  value(value: JsonValue, rules: ValueRules): boolean {
    this.#spend(1);
    if (value === null) return rules.allowsNull;
    const type = typeOf(value);
    if ((rules.allowed & type) === 0) return false;
    if (rules.hasClauses && !this.#clauses(value, rules)) return false;
    if (rules.enum !== undefined && !this.#isAmong(value, rules)) return false;
    if (typeof value === 'string') return this.#text(value, rules);
    if (Array.isArray(value)) return this.#list(value, rules);
    if (typeof value === 'object') return this.#object(value, rules);
    if (typeof value === 'boolean') return true;
    return (!rules.hasRange || isInRange(value, rules)) && (!this.#checksNumbers || fitsNumber(value, rules));
  }

  #isAmong(value: JsonValue, rules: ValueRules): boolean {
    if (rules.enum === undefined) return true;
    if (typeof value !== 'string') this.#spend(rules.enum.others.length >> 2);
    return isAmong(value, rules.enum);
  }

  #text(value: string, { maxLength, minLength, pattern, isOfFormat }: ValueRules): boolean {
    if (maxLength !== undefined && hasMoreThan(value, maxLength)) return false;
    if (minLength !== undefined && hasFewerThan(value, minLength)) return false;
    if (pattern !== '' && !this.#matches(pattern, value)) return false;
    return isOfFormat === undefined || isOfFormat(value);
  }

  #matches(pattern: string, text: string): boolean {
    const compiled = patternOf(pattern);
    if (compiled === undefined) return false;
    const effort = effortOf(compiled, text);
    if (effort > MAX_EFFORT_AT_ONCE) throw outOfTime;
    const matched = compiled.test(text);
    this.#spend(effort / EFFORT_OF_VALUE);
    if (performance.now() - this.#begunMs > MAX_MS) throw outOfTime;
    return matched;
  }

  #list(list: readonly JsonValue[], rules: ValueRules): boolean {
    const { maxItems, minItems, items } = rules;
    if (maxItems !== undefined && list.length > maxItems) return false;
    if (minItems !== undefined && list.length < minItems) return false;
    if (items !== undefined)
      for (let at = 0; at < list.length; at += 1) if (!this.value(list[at] ?? null, items)) return false;
    return !rules.isUnique || !hasDuplicates(list);
  }

  #object(object: JsonObject, rules: ValueRules): boolean {
    let amount = 0;
    for (const name in object) {
      const item = object[name];
      if (item === undefined) continue;
      amount += 1;
      const own = rules.property(name);
      if (own === undefined && rules.isClosed) return false;
      const inner = own ?? rules.others;
      if (inner !== undefined && !this.value(item, inner)) return false;
    }
    for (const name of rules.required) if (!has(object, name)) return false;
    const { maxProperties, minProperties } = rules;
    if (maxProperties !== undefined && amount > maxProperties) return false;
    return minProperties === undefined || amount >= minProperties;
  }

  #clauses(value: JsonValue, { anyOf, oneOf, allOf, not }: ValueRules): boolean {
    if (anyOf.length > 0 && !anyOf.some((clause) => this.value(value, clause))) return false;
    if (oneOf.length > 0 && this.#fitting(value, oneOf) !== 1) return false;
    for (const clause of allOf) if (!this.value(value, clause)) return false;
    return not === undefined || !this.value(value, not);
  }

  /** Counts to two: more make no difference. */
  #fitting(value: JsonValue, clauses: readonly ValueRules[]): number {
    let fitting = 0;
    for (const clause of clauses) {
      if (this.value(value, clause)) fitting += 1;
      if (fitting > 1) break;
    }
    return fitting;
  }
}

/** A field may be undefined in objects that a program made, though not in parsed JSON. */
export const has = (object: JsonObject, name: string): boolean =>
  Object.hasOwn(object, name) && object[name] !== undefined;

function isInRange(value: number | bigint, { schema }: ValueRules): boolean {
  if (exceeds(value, schema) || fallsBelow(value, schema)) return false;
  return schema.multipleOf === undefined || divides(value, schema.multipleOf) === 'yes';
}
