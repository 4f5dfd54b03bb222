import type { JsonObject, JsonValue } from '../api/json.ts';
import type { FieldError } from '../api/status.ts';
import { goQuote, goValue } from '../object/go-value.ts';
import { isObject } from '../object/json-values.ts';
import type { Pace, Steps } from '../util/turns.ts';
import { fits, has } from './fits.ts';
import { FoundProblems } from './found-problems.ts';
import { misfitOfNumber } from './number-formats.ts';
import { searchInSteps } from './pattern-search.ts';
import {
  compilePattern,
  EFFORT_OF_VALUE,
  effortOf,
  MAX_EFFORT_AT_ONCE,
  PatternError,
  patternOf,
} from './patterns.ts';
import { type Before, OldValues } from './ratchet.ts';
import {
  divides,
  exceeds,
  fallsBelow,
  hasDuplicates,
  hasFewerThan,
  hasMoreThan,
  isAmong,
  isInteger,
  limitFor,
} from './scalar-keywords.ts';
import type { Schema } from './schema-node.ts';
import { validationPace } from './validation-pace.ts';
import { nameOfType, rulesOf, TYPES, typeOf, type ValueRules } from './value-rules.ts';

/**
 * Validates a value against the OpenAPI v3 schema of a custom resource (kube-openapi, validation/validate;
 * apiextensions-apiserver, validation): errors, messages and order are Kubernetes'; where Go's maps make the order random, this
 * sorts by name.
 */

interface ValidateOptions {
  /** The stored value. Errors of unchanged values are let through. */
  readonly old?: JsonValue;
  /** The path of the value in the caller's object; none for a whole object. Messages contain it. */
  readonly root?: string;
  /** Whether types and formats of numbers are checked, as since 1.36. */
  readonly checksNumbers?: boolean;
}

/** Tests first whether the value fits: nearly every value does. */
export function* validateInSteps(
  value: JsonValue,
  schema: Schema,
  { old, root, checksNumbers = false }: ValidateOptions = {},
): Steps<FieldError[]> {
  const rules = rulesOf(schema);
  if (fits(value, rules, checksNumbers) === true) return [];
  const found = new FoundProblems();
  const before = old === undefined ? undefined : { value: old };
  yield* new Search(found, checksNumbers).value(value, rules, { path: '', before });
  return found.toErrors(root);
}

interface Place {
  readonly path: string;
  readonly before: Before | undefined;
}

/**
 * Finds all errors of a value. Every method returns the number of passed checks (MatchCount of kube-openapi): when no
 * alternative schema fits, the errors of the nearest one are reported.
 */
class Search {
  readonly #found: FoundProblems;
  readonly #pace: Pace;
  readonly #old = new OldValues();

  readonly #checksNumbers: boolean;

  constructor(found: FoundProblems, checksNumbers: boolean, pace = validationPace()) {
    this.#found = found;
    this.#checksNumbers = checksNumbers;
    this.#pace = pace;
  }

  *value(value: JsonValue, rules: ValueRules, place: Place): Steps<number> {
    if (this.#pace.isOver()) yield* this.#pace.pass();
    const before = this.#found.count;
    const matched = value === null ? this.#null(rules, place) : yield* this.#present(value, rules, place);
    if (this.#found.count > before && place.before !== undefined)
      if (this.#old.areEqual(value, place.before.value, rules.schema)) this.#found.forgetFrom(before);
    return matched;
  }

  #null(rules: ValueRules, { path }: Place): number {
    const { types, schema } = rules;
    const isWrong = types.length > 0 && schema.nullable !== true && !types.includes('null');
    if (isWrong) this.#found.wrongType(path, types.join(','), 'null');
    if (rules.enum !== undefined) this.#found.notAmong(path, null, rules.enum);
    return isWrong ? 0 : 1;
  }

  *#present(value: NonNullable<JsonValue>, rules: ValueRules, place: Place): Steps<number> {
    const type = typeOf(value);
    // Three checks pass for every value: its clauses, its enumeration, and the whole.
    let matched = 3 + this.#type(type, rules, place.path);
    matched += rules.hasClauses ? yield* this.#clauses(value, rules, place.path) : 1;
    if (typeof value === 'string') matched += yield* this.#text(value, rules, place.path);
    else if (typeof value === 'number' || typeof value === 'bigint')
      matched += this.#number(value, rules, place.path);
    else if (Array.isArray(value)) matched += yield* this.#list(value, rules, place);
    if (rules.enum !== undefined && !isAmong(value, rules.enum))
      this.#found.notAmong(place.path, value, rules.enum);
    if (isObject(value)) matched += yield* this.#object(value, rules, place);
    return matched;
  }

  /** Reports the format before the type where the value is neither a text nor a list. */
  #type(type: number, { types, format: ofTexts, numberFormat, allowed }: ValueRules, path: string): number {
    const format = this.#checksNumbers && numberFormat !== '' ? numberFormat : ofTexts;
    if (types.length === 0 && format === '') return 0;
    if ((allowed & type) !== 0) return 2;
    const isBare = format !== '' && (type & (TYPES.string | TYPES.array)) === 0;
    if (isBare) this.#found.wrongType(path, format, nameOfNumber(type));
    else this.#found.wrongType(path, types.join(','), nameOfType(type));
    return 1;
  }

  *#text(text: string, rules: ValueRules, path: string): Steps<number> {
    yield* this.#textLimits(text, rules, path);
    const { format, isOfFormat } = rules;
    if (isOfFormat === undefined) return 1;
    if (!isOfFormat(text)) this.#found.wrongType(path, format, text);
    return 2;
  }

  /** Reports the first violated limit. */
  *#textLimits(text: string, { maxLength, minLength, pattern }: ValueRules, path: string): Steps<void> {
    if (maxLength !== undefined && hasMoreThan(text, maxLength)) this.#found.tooLong(path, maxLength);
    else if (minLength !== undefined && hasFewerThan(text, minLength))
      this.#found.invalid(path, text, `should be at least ${minLength} chars long`);
    else if (pattern !== '' && !(yield* this.#matches(pattern, text)))
      this.#found.invalid(path, text, `should match '${pattern}${whyNoPattern(pattern)}'`);
  }

  /** An invalid pattern matches nothing. */
  *#matches(pattern: string, text: string): Steps<boolean> {
    const compiled = patternOf(pattern);
    if (compiled === undefined) return false;
    const effort = effortOf(compiled, text);
    if (effort > MAX_EFFORT_AT_ONCE) return yield* searchInSteps(compiled, text, this.#pace);
    const matched = compiled.test(text);
    if (this.#pace.isOver(effort / EFFORT_OF_VALUE)) yield* this.#pace.pass();
    return matched;
  }

  #number(value: number | bigint, rules: ValueRules, path: string): number {
    const { schema } = rules;
    const { multipleOf, maximum = 0, minimum = 0 } = schema;
    const misfit = this.#checksNumbers ? misfitOfNumber(value, rules, path) : undefined;
    if (misfit !== undefined) this.#found.composite(misfit);
    if (multipleOf !== undefined) this.#multiple(value, multipleOf, path);
    if (fallsBelow(value, schema)) {
      const which = schema.exclusiveMinimum === true ? '' : 'or equal to ';
      this.#found.invalid(path, value, `should be greater than ${which}${shownLimit(value, minimum)}`);
    }
    if (exceeds(value, schema)) {
      const which = schema.exclusiveMaximum === true ? '' : 'or equal to ';
      this.#found.invalid(path, value, `should be less than ${which}${shownLimit(value, maximum)}`);
    }
    return 2;
  }

  #multiple(value: number | bigint, step: number, path: string): void {
    const result = divides(value, step);
    const shown = shownLimit(value, step);
    if (result === 'no') this.#found.invalid(path, value, `should be a multiple of ${shown}`);
    if (result !== 'bad-step') return;
    const why = `factor MultipleOf declared for ${path} must be positive: ${shown}`;
    this.#found.invalidAs(path, limitFor(value, step), why);
  }

  *#list(list: readonly JsonValue[], rules: ValueRules, { path, before }: Place): Steps<number> {
    const { items, minItems, maxItems, schema } = rules;
    let matched = 2;
    if (items !== undefined)
      for (const [at, item] of list.entries()) {
        if (this.#found.isFull) return matched;
        const own = this.#old.ofItem(before, item, schema);
        matched += yield* this.value(item, items, { path: `${path}[${at}]`, before: own });
      }
    const amount = list.length;
    if (minItems !== undefined && amount < minItems)
      this.#found.invalid(path, amount, `should have at least ${minItems} items`);
    if (maxItems !== undefined && amount > maxItems) this.#found.tooMany(path, amount, maxItems, 'items');
    if (rules.isUnique && hasDuplicates(list)) this.#found.invalid(path, '', "shouldn't contain duplicates");
    return matched;
  }

  *#object(object: JsonObject, rules: ValueRules, place: Place): Steps<number> {
    const { path } = place;
    const names = Object.keys(object).filter((name) => object[name] !== undefined);
    names.sort();
    this.#amount(names.length, rules, path);
    let matched = 1;
    for (const name of names) {
      if (rules.property(name) !== undefined) continue;
      if (rules.isClosed)
        this.#found.invalidAs(path, name, `${path}.${name} in body is a forbidden property`);
      else if (rules.others !== undefined)
        matched += yield* this.#field(object, name, rules.others, place, `${path}.${name}`);
    }
    for (const name of names) {
      const own = rules.property(name);
      if (own === undefined) continue;
      matched += yield* this.#field(object, name, own, place, path === '' ? name : `${path}.${name}`);
    }
    for (const name of rules.required) if (!has(object, name)) this.#found.required(`${path}.${name}`);
    return matched;
  }

  #field(object: JsonObject, name: string, rules: ValueRules, place: Place, path: string): Steps<number> {
    // kind and apiVersion depend on the request's version, so that changes are undetectable.
    const isHead = place.path === '' && (name === 'kind' || name === 'apiVersion');
    const before = isHead ? undefined : this.#old.ofField(place.before, name);
    return this.#found.isFull ? NOTHING() : this.value(object[name] ?? null, rules, { path, before });
  }

  #amount(amount: number, { minProperties, maxProperties }: ValueRules, path: string): void {
    if (minProperties !== undefined && amount < minProperties)
      this.#found.invalid(path, amount, `should have at least ${minProperties} properties`);
    if (maxProperties !== undefined && amount > maxProperties)
      this.#found.tooMany(path, amount, maxProperties, 'properties');
  }

  *#clauses(value: JsonValue, rules: ValueRules, path: string): Steps<number> {
    const { anyOf, oneOf, allOf, not } = rules;
    let matched = 1;
    if (anyOf.length > 0) matched += yield* this.#anyOf(value, anyOf, path);
    if (oneOf.length > 0) matched += yield* this.#oneOf(value, oneOf, path);
    if (allOf.length > 0) matched += yield* this.#allOf(value, allOf, path);
    if (not !== undefined) {
      const { found } = yield* this.#clause(value, not, path);
      if (found.count === 0) this.#found.composite(`${goQuote(path)} must not validate the schema (not)`);
    }
    return matched;
  }

  *#anyOf(value: JsonValue, clauses: readonly ValueRules[], path: string): Steps<number> {
    let best: Outcome | undefined;
    for (const clause of clauses) {
      const outcome = yield* this.#clause(value, clause, path);
      if (outcome.found.count === 0) return outcome.matched;
      if (best === undefined || outcome.matched > best.matched) best = outcome;
    }
    this.#found.composite(`${goQuote(path)} must validate at least one schema (anyOf)`);
    return this.#take(best);
  }

  *#oneOf(value: JsonValue, clauses: readonly ValueRules[], path: string): Steps<number> {
    let best: Outcome | undefined;
    let first: Outcome | undefined;
    let fitting = 0;
    for (const clause of clauses) {
      const outcome = yield* this.#clause(value, clause, path);
      if (outcome.found.count === 0) {
        fitting += 1;
        first ??= outcome;
      } else if (best === undefined || outcome.matched > best.matched) best = outcome;
    }
    if (fitting === 1) return this.#take(first);
    const why = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`;
    this.#found.composite(`${goQuote(path)} must validate one and only one schema (oneOf). ${why}`);
    return fitting === 0 ? this.#take(best) : 0;
  }

  *#allOf(value: JsonValue, clauses: readonly ValueRules[], path: string): Steps<number> {
    let fitting = 0;
    let matched = 0;
    for (const clause of clauses) {
      const outcome = yield* this.#clause(value, clause, path);
      if (outcome.found.count === 0) fitting += 1;
      matched += this.#take(outcome);
    }
    if (fitting === clauses.length) return matched;
    const none = fitting === 0 ? '. None validated' : '';
    this.#found.composite(`${goQuote(path)} must validate all the schemas (allOf)${none}`);
    return matched;
  }

  /** Values in clauses have no old value: a clause fits or not. */
  *#clause(value: JsonValue, clause: ValueRules, path: string): Steps<Outcome> {
    const found = new FoundProblems();
    const search = new Search(found, this.#checksNumbers, this.#pace);
    const matched = yield* search.value(value, clause, { path, before: undefined });
    return { found, matched };
  }

  #take(outcome: Outcome | undefined): number {
    if (outcome === undefined) return 0;
    this.#found.merge(outcome.found);
    return outcome.matched;
  }
}

/** The result of one clause. */
interface Outcome {
  readonly found: FoundProblems;
  readonly matched: number;
}

// biome-ignore lint/correctness/useYield: the work is done already.
function* NOTHING(): Steps<number> {
  return 0;
}

/** A limit with all digits of the integer it stands for. */
function shownLimit(value: number | bigint, limit: number): string {
  const own = limitFor(value, limit);
  return goValue(isInteger(value) ? BigInt(own) : own);
}

/** The type in messages about a format: Go's type for numbers, and none for others. */
function nameOfNumber(type: number): string {
  if (type === TYPES.integer) return 'int64';
  return type === TYPES.number || type === TYPES.nearlyInteger ? 'float64' : '';
}

function whyNoPattern(pattern: string): string {
  try {
    compilePattern(pattern);
    return '';
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return `, but pattern is invalid: ${error.message}`;
  }
}
