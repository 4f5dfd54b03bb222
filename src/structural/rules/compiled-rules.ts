import type { JsonObject, JsonValue } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import { isObject } from '../../object/json-values.ts';
import { celSeconds } from '../../observability/cel-metrics.ts';
import type { Steps } from '../../util/turns.ts';
import { OldValues } from '../ratchet.ts';
import { additionalSchemaOf, isEmbedded, itemsOf, type Schema } from '../schema-node.ts';
import { Ratchet } from './correlation.ts';
import { RuleCompiler } from './programs.ts';
import { Judge, type LevelRule, type Place } from './rule-judge.ts';
import { type DeclaredType, typeOfSchema } from './rule-types.ts';

/**
 * The rules of a schema (x-kubernetes-validations; apiextensions-apiserver, apiserver/schema/cel/validation.go). Compiles the
 * rules of a level for its first value.
 */
export class CompiledRules {
  readonly schema: Schema;
  readonly #type: DeclaredType | undefined;
  readonly #compiler: RuleCompiler;
  #rules: readonly LevelRule[] | undefined;
  readonly #below = new Map<Schema, CompiledRules>();

  constructor(schema: Schema, type: DeclaredType | undefined, compiler: RuleCompiler) {
    this.schema = schema;
    this.#type = type;
    this.#compiler = compiler;
  }

  /** The rules of this level. */
  get rules(): readonly LevelRule[] {
    this.#rules ??= this.#compile();
    return this.#rules;
  }

  get type(): DeclaredType | undefined {
    return this.#type;
  }

  /**
   * Checks an object, and its change from the old one if given. Yields now and then, so that other work runs between the rules
   * of a large object.
   */
  *run(
    object: JsonObject,
    { old, isRatcheting = false, warn = ignore, showsValues = false }: RunOptions = {},
  ): Steps<FieldError[]> {
    const ratchet = Ratchet.of(object, isRatcheting ? old : undefined, this.schema);
    return yield* this.#judge(new Judge(warn, showsValues), { path: '', value: object, old, ratchet });
  }

  /** Checks a part of an object at `path`. */
  *runBelow(path: string, value: JsonValue, old: JsonValue | undefined): Steps<FieldError[]> {
    const ratchet = Ratchet.of(value, undefined, this.schema);
    return yield* this.#judge(new Judge(ignore, false), { path, value, old, ratchet });
  }

  *#judge(judge: Judge, place: Place): Steps<FieldError[]> {
    const begunMs = performance.now();
    yield* this.#run(judge, place);
    if (hasRules(this.schema)) celSeconds.evaluation.observe((performance.now() - begunMs) / 1000);
    return judge.errors;
  }

  *#run(judge: Judge, place: Place): Steps<void> {
    const { value } = place;
    if (value === undefined || value === null || judge.isDone || !hasRules(this.schema)) return;
    if (this.#type !== undefined) yield* judge.judge(this.rules, this.#type, place);
    if (Array.isArray(value)) yield* this.#runItems(judge, value, place);
    else if (isObject(value)) yield* this.#runFields(judge, value, place);
  }

  *#runItems(judge: Judge, list: readonly JsonValue[], { path, old, ratchet }: Place): Steps<void> {
    const below = itemsOf(this.schema);
    if (below === undefined || !hasRules(below)) return;
    const rules = this.#belowAt(below);
    const values = new OldValues();
    const before = old === undefined ? undefined : { value: old };
    for (const [at, value] of list.entries()) {
      if (judge.isDone) return;
      yield* rules.#run(judge, {
        path: `${path}[${at}]`,
        value,
        old: values.ofItem(before, value, this.schema)?.value,
        ratchet: ratchet.item(at),
      });
    }
  }

  *#runFields(judge: Judge, object: JsonObject, { path, old, ratchet }: Place): Steps<void> {
    const { properties = {} } = this.schema;
    const additional = additionalSchemaOf(this.schema);
    for (const name in object) {
      const isNamed = Object.hasOwn(properties, name);
      const below = isNamed ? properties[name] : additional;
      if (below === undefined || !hasRules(below)) continue;
      if (judge.isDone) return;
      const child = path === '' ? name : `${path}.${name}`;
      yield* this.#belowAt(below).#run(judge, {
        path: isNamed ? child : `${path}[${name}]`,
        value: object[name],
        old: isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined,
        ratchet: ratchet.field(name),
      });
    }
  }

  #belowAt(schema: Schema): CompiledRules {
    const known = this.#below.get(schema);
    if (known !== undefined) return known;
    const below = new CompiledRules(schema, typeOfSchema(schema), this.#compiler);
    this.#below.set(schema, below);
    return below;
  }

  #compile(): LevelRule[] {
    const type = this.#type;
    if (type === undefined) return [];
    const rules = this.schema['x-kubernetes-validations'] ?? [];
    const named = rules.filter(({ rule = '' }) => rule.trim() !== '');
    const begunMs = performance.now();
    const compiled = named.map((rule) => ({ rule, compiled: this.#compiler.compile(rule, type) }));
    if (named.length > 0) celSeconds.compilation.observe((performance.now() - begunMs) / 1000);
    return compiled;
  }
}

export interface RunOptions {
  readonly old?: JsonObject | undefined;
  /** An unchanged value keeps its errors, which become warnings. */
  readonly isRatcheting?: boolean;
  readonly warn?: (text: string) => void;
  /** An error shows the value that violates a rule, or none where that is an object or list, not its type. */
  readonly showsValues?: boolean;
}

const ignore = (): void => undefined;

const withRules = new WeakMap<Schema, boolean>();

/** Whether a schema has rules at any level. */
export function hasRules(schema: Schema): boolean {
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  const { properties = {}, 'x-kubernetes-validations': own = [] } = schema;
  const below = [itemsOf(schema), additionalSchemaOf(schema), ...Object.values(properties)];
  const has = own.length > 0 || below.some((one) => one !== undefined && hasRules(one));
  withRules.set(schema, has);
  return has;
}

const compiled = new WeakMap<Schema, CompiledRules>();

/** Cached per schema: the rules live as long as the schema. */
export function compileRules(schema: Schema, isResourceRoot = true): CompiledRules {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const type = typeOfSchema(schema, isResourceRoot || isEmbedded(schema));
  const rules = new CompiledRules(schema, type, new RuleCompiler());
  compiled.set(schema, rules);
  return rules;
}
