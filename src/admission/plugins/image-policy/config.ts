import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { asObject, checkFields, throwProblems } from '../../../object/config-fields.ts';
import { required } from '../../../object/field-errors.ts';
import { text } from '../../../object/parts.ts';

export interface ImagePolicyConfig {
  /** Path of a client configuration that leads to the webhook. */
  readonly kubeConfigFile: string;
  /** How long answers are believed. 0: they are not kept. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Before the second try; before each one after that half as long again. */
  readonly retryBackoffMs: number;
  /** What a webhook that does not answer decides. */
  readonly defaultAllow: boolean;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

interface Range {
  /** Of what is written in the file. */
  readonly unitMs: number;
  readonly defaultMs: number;
  readonly most: string;
  readonly mostMs: number;
  readonly least: string;
}

const TTL = { unitMs: SECOND_MS, least: '1s', most: '30m0s', mostMs: 30 * MINUTE_MS } as const;
const ALLOW: Range = { ...TTL, defaultMs: 5 * MINUTE_MS };
const DENY: Range = { ...TTL, defaultMs: 30 * SECOND_MS };
const BACKOFF: Range = { unitMs: 1, least: '1ns', most: '5m0s', mostMs: 5 * MINUTE_MS, defaultMs: 500 };

const FIELDS = ['kubeConfigFile', 'allowTTL', 'denyTTL', 'retryBackoff', 'defaultAllow'];

/**
 *   imagePolicy:
 *     kubeConfigFile: /etc/images/webhook.yaml
 *     allowTTL: 50         # seconds; 0: the default, -1: none
 *     denyTTL: 50
 *     retryBackoff: 500    # milliseconds
 *     defaultAllow: false
 *
 * @throws Error that says what is wrong
 */
export function readImagePolicyConfig(config: JsonValue | undefined): ImagePolicyConfig {
  if (config === undefined) throw new Error('ImagePolicyWebhook configuration: no config specified');
  const problems: FieldError[] = [];
  checkFields(asObject(config), ['imagePolicy'], '', problems);
  const policy = asObject(asObject(config).imagePolicy);
  checkFields(policy, FIELDS, 'imagePolicy', problems);
  if (text(policy.kubeConfigFile) === '') problems.push(required('imagePolicy.kubeConfigFile'));
  const retryBackoffMs = readMs(policy, 'retryBackoff', BACKOFF, problems);
  const allowTtlMs = readMs(policy, 'allowTTL', ALLOW, problems);
  const denyTtlMs = readMs(policy, 'denyTTL', DENY, problems);
  const { defaultAllow = false } = policy;
  if (typeof defaultAllow !== 'boolean')
    problems.push(wrong('imagePolicy.defaultAllow', 'must be true or false'));
  throwProblems('ImagePolicyWebhook configuration', problems);
  const kubeConfigFile = text(policy.kubeConfigFile);
  return { kubeConfigFile, allowTtlMs, denyTtlMs, retryBackoffMs, defaultAllow: defaultAllow === true };
}

const wrong = (field: string, message: string): FieldError => ({ type: 'FieldValueInvalid', field, message });

function readMs(policy: JsonObject, name: string, range: Range, problems: FieldError[]): number {
  const value = Number(policy[name] ?? 0);
  const field = `imagePolicy.${name}`;
  if (typeof policy[name] === 'string' || !Number.isInteger(value)) {
    problems.push(wrong(field, 'must be an integer'));
    return 0;
  }
  if (value === -1) return 0;
  if (value === 0) return range.defaultMs;
  const ms = value * range.unitMs;
  if (ms < 0 || ms > range.mostMs)
    problems.push(
      wrong(field, `valid value is between ${range.least} and ${range.most}, got ${goDuration(ms)}`),
    );
  return ms;
}

/** `2h0m0s`, `-2ms`, as Go writes them; of whole milliseconds. */
function goDuration(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const size = Math.abs(ms);
  if (size < SECOND_MS) return `${sign}${size}ms`;
  const minutes = Math.floor(size / MINUTE_MS);
  const seconds = `${(size % MINUTE_MS) / SECOND_MS}s`;
  if (minutes === 0) return `${sign}${seconds}`;
  return `${sign}${minutes < 60 ? '' : `${Math.floor(minutes / 60)}h`}${minutes % 60}m${seconds}`;
}
