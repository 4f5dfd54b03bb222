import { Optional } from '@marcbachmann/cel-js';
import type { JsonValue } from '../../api/json.ts';
import type { FieldError } from '../../api/status.ts';
import type { ValidationRule } from '../../api/types/apiextensions/v1.ts';
import { CALL_LIMIT, OutOfBudget } from '../../cel/budget.ts';
import type { DeclaredProgram } from '../../cel/declared.ts';
import { describeFailure } from '../../cel/issues.ts';
import {
  duplicate,
  duplicateUnshown,
  forbiddenField,
  invalidUnshown,
  invalidValue,
  required,
} from '../../object/field-errors.ts';
import { goQuote } from '../../object/go-value.ts';
import { errorText } from '../../util/error-text.ts';
import type { Steps } from '../../util/turns.ts';
import type { Ratchet } from './correlation.ts';
import type { CompiledRule } from './programs.ts';
import { pathOfRule } from './rule-field-path.ts';
import type { DeclaredType } from './rule-types.ts';
import { Values } from './rule-values.ts';

/** The cost limit of all rules of one request, a second by Kubernetes' estimate. */
const REQUEST_LIMIT = 10_000_000;
/** Cost between two yields: a few milliseconds. */
const COST_OF_TURN = 100_000;
/** Cheap values between two yields. */
const VALUES_OF_TURN = 500;

/** More than clients read: a large object can have as many errors as values. */
const MAX_ERRORS = 5_000;

const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run';
const MAX_MESSAGE_BYTES = 5 * 1024;

export interface LevelRule {
  readonly rule: ValidationRule;
  readonly compiled: CompiledRule;
}

/** A value and its path. */
export interface Place {
  readonly path: string;
  readonly value: JsonValue | undefined;
  readonly old: JsonValue | undefined;
  readonly ratchet: Ratchet;
}

type Variables = Readonly<Record<string, unknown>>;

/** Runs the rules of one request, and keeps its budget and results. */
export class Judge {
  readonly errors: FieldError[] = [];
  readonly #warn: (text: string) => void;
  readonly #showsValues: boolean;
  readonly #values = new Values();
  #left = REQUEST_LIMIT;
  #isDone = false;
  #turnLeft = COST_OF_TURN;
  #warnings = 0;

  constructor(warn: (text: string) => void, showsValues: boolean) {
    this.#warn = warn;
    this.#showsValues = showsValues;
  }

  /** The budget is spent: no further rule runs. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Runs the rules of one level on a value. */
  *judge(rules: readonly LevelRule[], type: DeclaredType, place: Place): Steps<void> {
    this.#turnLeft -= COST_OF_TURN / VALUES_OF_TURN;
    for (const rule of rules) {
      if (this.#isDone) return;
      if (this.errors.length >= MAX_ERRORS) this.#isDone = true;
      if (this.#turnLeft < 0) {
        yield;
        this.#turnLeft = COST_OF_TURN;
      }
      this.#one(new Trial(rule, type, place));
    }
  }

  #one(trial: Trial): void {
    const { compiled, rule } = trial;
    if (this.#left <= 0) {
      this.#end(trial.invalid(OUT_OF_BUDGET));
      return;
    }
    if (compiled.program === undefined) {
      this.errors.push(trial.invalid(`rule compile error: ${compiled.problem}`));
      return;
    }
    if (!trial.applies) return;
    const variables = this.#variables(trial);
    if (typeof variables === 'string') {
      this.errors.push(trial.invalid(`${variables} evaluating rule: ${nameOf(rule)}`));
      return;
    }
    const outcome = this.#run(compiled.program, variables);
    if (outcome.kind === 'true') return;
    if (outcome.kind === 'over') this.#end(trial.invalid(overText(outcome, `rule: ${nameOf(rule)}`)));
    else if (outcome.kind === 'failed') this.errors.push(trial.invalid(failureText(outcome.why, rule)));
    else this.#refuse(trial, variables);
  }

  #end(error: FieldError): void {
    this.errors.push(error);
    this.#isDone = true;
  }

  /** Returns a text when the value has the wrong type. */
  #variables({ compiled, rule, type, place }: Trial): Variables | string {
    const { value = null, old = null } = place;
    try {
      const self = this.#values.of(value, type);
      if (!compiled.usesOldSelf) return { self };
      const before = old === null ? undefined : this.#values.of(old, type);
      return { self, oldSelf: rule.optionalOldSelf === true ? Optional.of(before) : before };
    } catch (error) {
      return errorText(error);
    }
  }

  #run(program: DeclaredProgram, variables: Variables): Run {
    const limit = Math.min(CALL_LIMIT, this.#left);
    const { cost, error, ...rest } = program.run(variables, limit);
    this.#turnLeft -= cost;
    if (error instanceof OutOfBudget) return { kind: 'over', isRequest: limit < CALL_LIMIT };
    this.#left -= cost;
    if (error !== undefined) return { kind: 'failed', why: describeFailure(error) };
    const result = 'result' in rest ? rest.result : undefined;
    return result === true ? { kind: 'true' } : { kind: 'value', value: result };
  }

  /** Reports that the value violates the rule. */
  #refuse(trial: Trial, variables: Variables): void {
    const { rule, compiled } = trial;
    const { message } = compiled;
    if (message === undefined) {
      this.#add(trial, trial.broken(messageOf(rule), this.#showsValues));
      return;
    }
    const outcome = this.#run(message, variables);
    if (outcome.kind !== 'over') {
      const text = outcome.kind === 'value' ? usableMessage(outcome.value) : undefined;
      this.#add(trial, trial.broken(text ?? messageOf(rule), this.#showsValues));
      return;
    }
    const text = outcome.isRequest
      ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
      : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(rule.messageExpression ?? '')}`;
    this.#add(trial, invalidValue(trial.errorPath, trial.shown, text));
    this.#isDone = true;
  }

  #add(trial: Trial, error: FieldError): void {
    if (!trial.isRatcheted) {
      this.errors.push(error);
      return;
    }
    this.#warnings += 1;
    if (this.#warnings <= MAX_ERRORS) this.#warn(`${error.field}: ${error.message}`);
  }
}

type Run =
  | { readonly kind: 'true' }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly why: string }
  /** `isRequest`: the request's budget is spent, not the rule's. */
  | { readonly kind: 'over'; readonly isRequest: boolean };

/** An object or list, which errors do not show. */
const UNSHOWN = Symbol('unshown');

/** One rule and one value. */
class Trial {
  readonly rule: ValidationRule;
  readonly compiled: LevelRule['compiled'];
  readonly type: DeclaredType;
  readonly place: Place;

  constructor({ rule, compiled }: LevelRule, type: DeclaredType, place: Place) {
    this.rule = rule;
    this.compiled = compiled;
    this.type = type;
    this.place = place;
  }

  /** A transition rule needs an old value, unless it makes that optional. */
  get applies(): boolean {
    const { old = null } = this.place;
    return !this.compiled.usesOldSelf || old !== null || this.rule.optionalOldSelf === true;
  }

  get isRatcheted(): boolean {
    return !this.compiled.usesOldSelf && this.place.ratchet.isUnchanged;
  }

  /** The type of the value, which Kubernetes shows in its place. */
  get shown(): string {
    return this.type.schema.type ?? '';
  }

  /** The path of the value, or the fieldPath of the rule below it. */
  get errorPath(): string {
    const { fieldPath = '' } = this.rule;
    const { path } = this.place;
    const below = fieldPath === '' ? '' : (pathOfRule(fieldPath, this.type.schema) ?? '');
    if (below === '') return named(path);
    return path === '' ? below : `${path}.${below}`;
  }

  invalid(why: string): FieldError {
    return invalidValue(named(this.place.path), this.shown, why);
  }

  broken(text: string, showsValue: boolean): FieldError {
    const shown = showsValue ? this.#value : this.shown;
    switch (this.rule.reason) {
      case 'FieldValueForbidden':
        return forbiddenField(this.errorPath, text);
      case 'FieldValueRequired':
        return required(this.errorPath, text);
      case 'FieldValueDuplicate':
        return shown === UNSHOWN ? duplicateUnshown(this.errorPath) : duplicate(this.errorPath, shown);
      default:
        return shown === UNSHOWN
          ? invalidUnshown(this.errorPath, text)
          : invalidValue(this.errorPath, shown, text);
    }
  }

  get #value(): unknown {
    const { type } = this.type.schema;
    return type === 'object' || type === 'array' ? UNSHOWN : this.place.value;
  }
}

/** Go prints the path of the object itself like this. */
const named = (path: string): string => (path === '' ? '<nil>' : path);

const messageOf = (rule: ValidationRule): string =>
  rule.message === undefined || rule.message === '' ? `failed rule: ${nameOf(rule)}` : nameOf(rule);

function nameOf({ rule = '', message = '' }: ValidationRule): string {
  return message === '' ? rule.trim() : message.trim();
}

const overText = ({ isRequest }: { readonly isRequest: boolean }, what: string): string =>
  isRequest
    ? OUT_OF_BUDGET
    : `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for ${what}`;

function failureText(why: string, rule: ValidationRule): string {
  if (!why.startsWith('no such overload')) return `${why} evaluating rule: ${nameOf(rule)}`;
  return `'${why}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`;
}

/** Undefined: use the rule's static message. */
function usableMessage(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES;
  return isUsable ? text : undefined;
}
