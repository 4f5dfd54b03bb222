import type { JsonValue } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import type { ValidationRule } from '../../api/types/apiextensions/v1.ts';
import type { NewExpressions } from '../../cel/newer.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goStruct, goText, shownJson } from '../../object/go-value.ts';
import { celSeconds } from '../../observability/cel-metrics.ts';
import type { Steps } from '../../util/turns.ts';
import {
  additionalSchemaOf,
  hasAdditional,
  hasDefault,
  isEmbedded,
  itemsOf,
  propertiesOf,
  type Schema,
} from '../schema-node.ts';
import { CompiledRules, hasRules } from './compiled-rules.ts';
import { estimateCost } from './cost/estimate.ts';
import { MOST } from './cost/range.ts';
import { type CompiledRule, RuleCompiler } from './programs.ts';
import { type DeclaredType, MAX_REQUEST_BYTES, typeOfSchema } from './rule-types.ts';

/**
 * Checks rules when their definition is written: whether they compile, refer to existing fields, and how much they may cost
 * (apiextensions-apiserver, validation/validation.go and cel_validation.go). The schema must be structural.
 */

/** The highest estimated cost of one expression. */
const EXPRESSION_LIMIT = 10_000_000;
/** The highest total cost of the rules of a schema. */
const SCHEMA_LIMIT = 100_000_000;

/** Yields between rules. `at`: the path of the schema. `limit`: what rules that are written may use. */
export function* checkRules(at: FieldPath, schema: Schema, limit?: NewExpressions): Steps<void> {
  if (!hasRules(schema)) return;
  const before = at.found;
  yield* checkDefaults(at, schema, true);
  if (at.found > before) return;
  const check = new Check(limit);
  yield* check.schema(at, schema, { isRoot: true, cardinality: 1, uncorrelatable: undefined });
  check.total(at);
}

/** Checks that defaults satisfy the rules of their values, in new objects and in old ones. */
function* checkDefaults(at: FieldPath, schema: Schema, isRoot: boolean): Steps<void> {
  if (!hasRules(schema)) return;
  const isResource = isRoot || isEmbedded(schema);
  const { default: value } = schema;
  if (hasDefault(schema) && value !== undefined) {
    const rules = new CompiledRules(schema, typeOfSchema(schema, isResource), new RuleCompiler());
    const path = at.field('default').toString();
    const errors = yield* defaultErrors(rules, value, path);
    at.add(errors);
  }
  const items = itemsOf(schema);
  if (items !== undefined) yield* checkDefaults(at.field('items'), items, false);
  for (const [path, , property] of propertiesOf(at, schema)) yield* checkDefaults(path, property, false);
}

function* defaultErrors(rules: CompiledRules, value: JsonValue, path: string): Steps<FieldError[]> {
  const changed = yield* rules.runBelow(path, value, value);
  return changed.length > 0 ? changed : yield* rules.runBelow(path, value, undefined);
}

/** The position of a schema within another. */
interface Place {
  readonly isRoot: boolean;
  /** The most values; undefined: limited by the size of a request only. */
  readonly cardinality: number | undefined;
  /** The topmost schema whose values have no counterpart in an older object. */
  readonly uncorrelatable: FieldPath | undefined;
}

interface Expense {
  readonly at: FieldPath;
  readonly cost: number;
}

/** The share of the limit from which a cost is reported, and the number of reports. */
const EXPENSIVE = SCHEMA_LIMIT / 100;
const MOST_REPORTED = 4;

class Check {
  readonly #compiler: RuleCompiler;
  readonly #expenses: Expense[] = [];
  #total = 0;

  constructor(limit: NewExpressions | undefined) {
    this.#compiler = new RuleCompiler(limit);
  }

  /** Visits parts first, as Kubernetes does. */
  *schema(at: FieldPath, schema: Schema, place: Place): Steps<void> {
    if (!hasRules(schema)) return;
    const cardinality = cardinalityBelow(schema, place.cardinality);
    const below: Place = { ...place, isRoot: false, cardinality };
    const additional = additionalSchemaOf(schema);
    if (additional !== undefined) yield* this.schema(at.field('additionalProperties'), additional, below);
    for (const [path, , property] of propertiesOf(at, schema)) yield* this.schema(path, property, below);
    const items = itemsOf(schema);
    if (items !== undefined) {
      const isKeyed = schema['x-kubernetes-list-type'] === 'map';
      const uncorrelatable = place.uncorrelatable ?? (isKeyed ? undefined : at);
      yield* this.schema(at.field('items'), items, { ...below, uncorrelatable });
    }
    yield* this.#rules(at, schema, place);
  }

  *#rules(at: FieldPath, schema: Schema, place: Place): Steps<void> {
    const rules = schema['x-kubernetes-validations'] ?? [];
    if (rules.length === 0) return;
    const type = typeOfSchema(schema, place.isRoot || isEmbedded(schema));
    const list = at.field('x-kubernetes-validations');
    if (type === undefined) {
      list.add([{ type: 'InternalError', field: list.toString(), message: NO_TYPE }]);
      return;
    }
    let ms = 0;
    for (const [path, rule] of list.each(rules)) {
      const begunMs = performance.now();
      this.#rule(path, rule, type, place);
      ms += performance.now() - begunMs;
      yield;
    }
    celSeconds.compilation.observe(ms / 1000);
  }

  #rule(at: FieldPath, rule: ValidationRule, type: DeclaredType, place: Place): void {
    const compiled = this.#compiler.compile(rule, type);
    const { program, problem, message, messageProblem } = compiled;
    const code = at.field('rule');
    if (program !== undefined) {
      const count = place.cardinality ?? Math.floor(MAX_REQUEST_BYTES / (type.minSize + 1));
      const cost = Math.min(MOST, estimateCost(program.tree, type) * count);
      this.#spend(code, cost, 'estimated rule cost');
    }
    if (problem !== '') code.invalid(written(rule), problem);
    const text = at.field('messageExpression');
    if (messageProblem !== '') text.invalid(written(rule), messageProblem);
    else if (message !== undefined)
      this.#spend(text, estimateCost(message.tree, type), 'estimated messageExpression cost');
    checkOldSelf(at, rule, compiled, place);
  }

  #spend(at: FieldPath, cost: number, name: string): void {
    if (cost > EXPRESSION_LIMIT) at.forbidden(tooExpensive(name, cost, EXPRESSION_LIMIT));
    this.#total = Math.min(MOST, this.#total + cost);
    if (cost >= EXPENSIVE) this.#expenses.push({ at, cost });
  }

  total(at: FieldPath): void {
    if (this.#total <= SCHEMA_LIMIT) return;
    const reported = this.#expenses.toSorted((a, b) => b.cost - a.cost).slice(0, MOST_REPORTED);
    for (const { at: rule } of reported)
      rule.forbidden(
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      );
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    at.forbidden(tooExpensive(name, this.#total, SCHEMA_LIMIT));
  }
}

const NO_TYPE =
  'Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';

/** The most values of a schema's part; undefined: unlimited. */
function cardinalityBelow(schema: Schema, own: number | undefined): number | undefined {
  const factor = factorOf(schema);
  if (own === undefined || factor === undefined) return undefined;
  return Math.min(MOST, own * factor);
}

function factorOf(schema: Schema): number | undefined {
  const { type, maxItems, maxProperties } = schema;
  if (type === 'array') return maxItems === undefined ? undefined : Math.max(0, Number(maxItems));
  if (type !== 'object' || !hasAdditional(schema)) return 1;
  return maxProperties === undefined ? undefined : Math.max(0, Number(maxProperties));
}

function checkOldSelf(
  at: FieldPath,
  rule: ValidationRule,
  { usesOldSelf }: CompiledRule,
  { uncorrelatable }: Place,
): void {
  if (!usesOldSelf) {
    if (rule.optionalOldSelf !== undefined)
      at.field('optionalOldSelf').invalid(
        rule.optionalOldSelf,
        'may not be set if oldSelf is not used in rule',
      );
    return;
  }
  if (uncorrelatable === undefined) return;
  const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
  at.field('rule').invalid(rule.rule, why);
}

/** The rule as Kubernetes prints it, with addresses for Go's pointers. */
const written = ({
  rule = '',
  message = '',
  messageExpression = '',
  reason,
  fieldPath = '',
  optionalOldSelf,
}: ValidationRule) =>
  goStruct('apiextensions.ValidationRule', {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: pointer('*apiextensions.FieldValueErrorReason', reason),
    FieldPath: fieldPath,
    OptionalOldSelf: pointer('*bool', optionalOldSelf),
  });

const pointer = (type: string, value: unknown) =>
  goText(`(${type})(${value === undefined ? 'nil' : '0xc000000000'})`, shownJson(value));

function tooExpensive(name: string, cost: number, most: number): string {
  const factor = cost / most;
  const shown = factor > 100 ? 'more than 100' : factor < 1.5 ? factor.toFixed(6) : factor.toFixed(1);
  return `${name} exceeds budget by factor of ${shown}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
