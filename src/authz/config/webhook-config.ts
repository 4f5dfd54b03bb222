import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { compileCel } from '../../cel/program.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  duplicate,
  invalidValue,
  required,
  tooMany,
} from '../../object/field-errors.ts';
import { errorText } from '../../util/error-text.ts';
import { joinErrors } from '../authorizer.ts';

/** The settings of one webhook, from its flags or its part of the configuration file. */
export interface WebhookConfig {
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly timeoutMs: number;
  readonly version: 'v1' | 'v1beta1';
  readonly onFailure: 'no-opinion' | 'deny';
  /** Undefined: a pod's address and credentials for its own cluster. */
  readonly kubeConfigFile: string | undefined;
  /** CEL. The webhook is called only if all are true. */
  readonly matchConditions: readonly string[];
}

const DEFAULT_AUTHORIZED_TTL = '5m0s';
const DEFAULT_UNAUTHORIZED_TTL = '30s';
const MAX_TIMEOUT_MS = 30_000;
const MAX_CONDITIONS = 64;
const ON_FAILURE = { NoOpinion: 'no-opinion', Deny: 'deny' } as const;

const FIELDS = [
  'authorizedTTL',
  'unauthorizedTTL',
  'timeout',
  'subjectAccessReviewVersion',
  'matchConditionSubjectAccessReviewVersion',
  'failurePolicy',
  'connectionInfo',
  'matchConditions',
];

/** Adds to `problems`; the result is valid only if it adds none. */
export function parseWebhookConfig(config: JsonObject, path: string, problems: FieldError[]): WebhookConfig {
  checkFields(config, FIELDS, path, problems);
  const { subjectAccessReviewVersion: version, failurePolicy } = config;
  const ttl = { why: 'must be > 0s' };
  const parsed = {
    authorizedTtlMs: parseTime(
      config.authorizedTTL ?? DEFAULT_AUTHORIZED_TTL,
      `${path}.authorizedTTL`,
      ttl,
      problems,
    ),
    unauthorizedTtlMs: parseTime(
      config.unauthorizedTTL ?? DEFAULT_UNAUTHORIZED_TTL,
      `${path}.unauthorizedTTL`,
      ttl,
      problems,
    ),
    timeoutMs: parseTime(
      config.timeout,
      `${path}.timeout`,
      { why: 'must be > 0s and <= 30s', mostMs: MAX_TIMEOUT_MS },
      problems,
    ),
    kubeConfigFile: parseConnection(asObject(config.connectionInfo), `${path}.connectionInfo`, problems),
    matchConditions: parseConditions(config, path, problems),
  };
  checkOneOf(version, ['v1', 'v1beta1'], `${path}.subjectAccessReviewVersion`, problems);
  checkOneOf(failurePolicy, Object.keys(ON_FAILURE), `${path}.failurePolicy`, problems);
  return {
    ...parsed,
    version: version === 'v1' ? 'v1' : 'v1beta1',
    onFailure: failurePolicy === 'NoOpinion' ? ON_FAILURE.NoOpinion : ON_FAILURE.Deny,
  };
}

/** The kubeconfig file of the connection; undefined for a connection inside the cluster. */
function parseConnection(info: JsonObject, path: string, problems: FieldError[]): string | undefined {
  checkFields(info, ['type', 'kubeConfigFile'], path, problems);
  const { type, kubeConfigFile } = info;
  checkOneOf(type, ['InClusterConfig', 'KubeConfigFile'], `${path}.type`, problems);
  const field = `${path}.kubeConfigFile`;
  if (type === 'InClusterConfig' && kubeConfigFile !== undefined) {
    problems.push(invalidValue(field, kubeConfigFile, 'can only be set when type=KubeConfigFile'));
  }
  if (type !== 'KubeConfigFile') return undefined;
  if (typeof kubeConfigFile !== 'string' || kubeConfigFile === '') {
    problems.push(required(field));
    return undefined;
  }
  if (!kubeConfigFile.startsWith('/')) {
    problems.push(invalidValue(field, kubeConfigFile, 'must be an absolute path'));
  }
  return kubeConfigFile;
}

function parseConditions(config: JsonObject, path: string, problems: FieldError[]): string[] {
  const { matchConditions = [], matchConditionSubjectAccessReviewVersion: version } = config;
  const conditions = Array.isArray(matchConditions) ? matchConditions.map(asObject) : [];
  const versionField = `${path}.matchConditionSubjectAccessReviewVersion`;
  if (version !== undefined && version !== '') checkOneOf(version, ['v1'], versionField, problems);
  else if (conditions.length > 0) {
    problems.push(required(versionField, 'required if match conditions are specified'));
  }
  if (conditions.length > MAX_CONDITIONS) {
    problems.push(tooMany(`${path}.matchConditions`, conditions.length, MAX_CONDITIONS));
  }
  const expressions: string[] = [];
  for (const [at, { expression = '' }] of conditions.entries()) {
    const field = `${path}.matchConditions[${at}].expression`;
    const text = String(expression);
    if (text.trim() === '') problems.push(required(field));
    else if (expressions.includes(text)) problems.push(duplicate(field, text));
    expressions.push(text);
  }
  return expressions;
}

function parseTime(
  value: JsonValue | undefined,
  field: string,
  { why, mostMs = Number.POSITIVE_INFINITY }: { why: string; mostMs?: number },
  problems: FieldError[],
): number {
  const ms = typeof value === 'string' ? toMs(value) : undefined;
  if (value === undefined || ms === 0) problems.push(required(field));
  else if (ms === undefined || ms < 0 || ms > mostMs) problems.push(invalidValue(field, value, why));
  return ms ?? 0;
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Go's durations: `1m30s`, `500ms`, `0`. Undefined for anything else. */
function toMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^-?(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, , unit = ''] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    ms += Number(amount) * (UNITS_MS[unit] ?? 0);
  }
  return text.startsWith('-') ? -ms : ms;
}

/** A compiled CEL expression over `request`, the spec of a v1 review. */
interface MatchCondition {
  readonly expression: string;
  /** @throws Error when the evaluation fails or gives no boolean */
  evaluate(spec: JsonObject): boolean;
}

/**
 * For WebhookOptions.matches: true when all conditions are true. One false condition decides, even if others failed; errors count
 * only when none is false.
 */
export function allMatch(conditions: readonly MatchCondition[]): (spec: JsonObject) => boolean {
  return (spec) => {
    const errors: string[] = [];
    for (const { expression, evaluate } of conditions) {
      try {
        if (!evaluate(spec)) return false;
      } catch (error) {
        const why = errorText(error);
        errors.push(`cel evaluation error: expression '${expression}' resulted in error: ${why}`);
      }
    }
    const text = joinErrors(errors);
    if (text !== undefined) throw new Error(text);
    return true;
  };
}

/** `request` is the spec of a v1 review. @throws Error for an invalid expression, or one that gives no boolean */
export function compileMatchCondition(expression: string): MatchCondition {
  const program = compileCel(expression, { request: 'map<string, dyn>' });
  if (program.type !== 'bool' && program.type !== 'dyn')
    throw new Error(`matchConditions: ${JSON.stringify(expression)} must evaluate to bool`);
  return {
    expression,
    evaluate: (spec) => {
      const value = program.evaluate({ request: spec });
      if (typeof value === 'boolean') return value;
      throw new Error('it gave no boolean');
    },
  };
}
