import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import { invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, nameColumn, type StrategyOutline, type Table } from '../define.ts';
import { has, joinedInvalid } from '../validation/fields.ts';
import { validateReviewVersions, validateWebhookClient } from '../validation/webhook-client.ts';
import {
  validateFailurePolicy,
  validateMatchConditions,
  validateMatchPolicy,
  validateSelectors,
  validateUniqueNames,
} from './validate-match.ts';
import { validateRules } from './validate-rules.ts';

/** What configurations of validating and of mutating webhooks have in common. */

export const webhookTable: Table = {
  columns: [nameColumn(), column('Webhooks', 0, 'integer'), column('Age')],
  cells: (configuration, now) => [
    configuration.metadata.name ?? '',
    parts(configuration, 'webhooks').length,
    age(configuration, now),
  ],
};

export const webhookStrategy: StrategyOutline = {
  nameRule: 'dns-subdomain',
  tracksGeneration: true,
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: false,
  validate: validateWebhooks,
};

/** A webhook that other systems notice cannot be called in a dry run, so those two are all that v1 allows. */
const SIDE_EFFECTS = ['None', 'NoneOnDryRun'] as const;
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'] as const;
const MAX_TIMEOUT_SECONDS = 30;

function validateWebhooks(configuration: ApiObject): FieldError[] {
  const webhooks = parts(configuration, 'webhooks');
  return [
    ...webhooks.flatMap((webhook, at) => validateWebhook(webhook, `webhooks[${at}]`)),
    ...validateUniqueNames(webhooks, 'webhooks'),
  ];
}

function validateWebhook(webhook: JsonObject, path: string): FieldError[] {
  return [
    ...validateFullName(text(webhook.name), `${path}.name`),
    ...validateRules(parts(webhook, 'rules'), `${path}.rules`),
    ...validateFailurePolicy(webhook, path),
    ...validateMatchPolicy(webhook, path),
    ...validateSideEffects(text(webhook.sideEffects), `${path}.sideEffects`),
    ...validateTimeout(webhook, path),
    ...validateSelectors(webhook, path),
    ...validateReinvocation(text(webhook.reinvocationPolicy), `${path}.reinvocationPolicy`),
    ...validateWebhookClient(part(webhook, 'clientConfig'), `${path}.clientConfig`),
    ...validateMatchConditions(webhook, path, new PolicyCompiler(false)),
    ...validateReviewVersions(webhook, 'admissionReviewVersions', `${path}.admissionReviewVersions`),
  ];
}

function validateFullName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const reasons = checkName(name, 'dns-subdomain');
  if (reasons.length > 0) return joinedInvalid(path, name, reasons);
  return name.split('.').length >= 3
    ? []
    : [invalidValue(path, name, 'should be a domain with at least three segments separated by dots')];
}

function validateSideEffects(effects: string, path: string): FieldError[] {
  if (effects === '') return [required(path, `must specify one of ${SIDE_EFFECTS.join(', ')}`)];
  return SIDE_EFFECTS.some((known) => known === effects) ? [] : [notSupported(path, effects, SIDE_EFFECTS)];
}

function validateTimeout(webhook: JsonObject, path: string): FieldError[] {
  if (!has(webhook, 'timeoutSeconds')) return [];
  const timeout = count(webhook.timeoutSeconds);
  return timeout >= 1 && timeout <= MAX_TIMEOUT_SECONDS
    ? []
    : [invalidValue(`${path}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')];
}

const validateReinvocation = (policy: string, path: string): FieldError[] =>
  policy === '' || REINVOCATION_POLICIES.some((known) => known === policy)
    ? []
    : [notSupported(path, policy, REINVOCATION_POLICIES)];
