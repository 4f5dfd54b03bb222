import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../api/types/admissionregistration/v1.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName } from '../../object/text-formats.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, ratchetOf } from '../rules/checked.ts';
import { mustBeNameInOneError, mustBeOneOf, UniqueNames } from '../rules/name-rules.ts';
import { mustBeReviewVersions, validateWebhookClient } from '../rules/webhook-client-rules.ts';
import { newExpressions } from './expressions.ts';
import {
  conditionsRatchet,
  FAILURE_POLICIES,
  mustBeFewExpressions,
  validateMatchConditions,
  validateMatchPolicy,
  validateRule,
  validateSelectors,
} from './match-criteria.ts';
import { reservesStaticNames } from './reserved-names.ts';

/** Validating webhooks have the fields of mutating ones, but no policy of being called again. */
type Webhook = MutatingWebhook;
type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

export const mutatingwebhookconfigurations = defineWebhooks(
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
);

export const validatingwebhookconfigurations = defineWebhooks(
  'validatingwebhookconfigurations',
  'ValidatingWebhookConfiguration',
);

function defineWebhooks(resource: string, kind: string): ResourceDefinition {
  return define<Configuration>({
    group: 'admissionregistration.k8s.io',
    resource,
    kind,
    namespaced: false,
    exemptFrom: ['webhooks'],
    categories: ['api-extensions'],
    versions: [{ version: 'v1', type: `admissionregistration/v1.${kind}` }],
    table: {
      columns: [nameColumn(), column('Webhooks', 0, 'integer'), column('Age')],
      cells: (configuration, now) => [
        configuration.metadata.name ?? '',
        configuration.webhooks?.length ?? 0,
        age(configuration, now),
      ],
    },
    ratchets: [
      conditionsRatchet<Configuration>(/^webhooks\[\d+\]\.matchConditions/, ({ webhooks = [] }) => webhooks),
      ratchetOf(/^webhooks\[\d+\]\.sideEffects$/),
      ratchetOf(/^webhooks\[\d+\]\.admissionReviewVersions$/, /must include at least one of/),
      ratchetOf(/^webhooks\[\d+\]\.name$/, /^Duplicate value/),
      ratchetOf(/^webhooks\[\d+\]\.(namespace|object)Selector\.matchExpressions\[\d+\]\.values\[\d+\]$/),
    ],
    strategy: {
      finalizersNeedDomains: false,
      tracksGeneration: true,
      ...reservesStaticNames,
      allowUnconditionalUpdate: false,
      validate: checked(validate),
    },
  });
}

function validate(root: FieldPath, { webhooks = [] }: Configuration, old?: Configuration): void {
  const at = root.field('webhooks');
  const expressions = webhooks.reduce((sum, { matchConditions = [] }) => sum + matchConditions.length, 0);
  if (!mustBeFewExpressions(at.field('matchConditions'), expressions)) return;
  const stored = old?.webhooks?.map(({ matchConditions = [] }) => matchConditions);
  const compiler = new PolicyCompiler(false, newExpressions(root.isOn, stored));
  for (const [path, webhook] of at.each<Webhook>(webhooks)) validateWebhook(path, webhook, compiler);
  const names = new UniqueNames();
  for (const [path, { name = '' }] of at.each<Webhook>(webhooks)) names.add(path.field('name'), name);
}

/** A webhook that changes other systems cannot be called in a dry run, so that v1 allows only these. */
const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];

function validateWebhook(at: FieldPath, webhook: Webhook, compiler: PolicyCompiler): void {
  const { name = '', rules, failurePolicy, sideEffects = '', reinvocationPolicy = '' } = webhook;
  validateName(at.field('name'), name);
  for (const [path, rule] of at.field('rules').each(rules)) validateRule(path, rule);
  mustBeOneOf(at.field('failurePolicy'), failurePolicy, FAILURE_POLICIES);
  validateMatchPolicy(at, webhook);
  if (sideEffects === '') at.field('sideEffects').required(`must specify one of ${SIDE_EFFECTS.join(', ')}`);
  else mustBeOneOf(at.field('sideEffects'), sideEffects, SIDE_EFFECTS);
  validateTimeout(at.field('timeoutSeconds'), webhook.timeoutSeconds);
  validateSelectors(at, webhook);
  if (reinvocationPolicy !== '')
    mustBeOneOf(at.field('reinvocationPolicy'), reinvocationPolicy, REINVOCATION_POLICIES);
  validateWebhookClient(at.field('clientConfig'), webhook.clientConfig ?? {});
  validateMatchConditions(at.field('matchConditions'), webhook.matchConditions ?? [], compiler);
  mustBeReviewVersions(at.field('admissionReviewVersions'), webhook.admissionReviewVersions ?? []);
}

function validateName(at: FieldPath, name: string): void {
  if (name === '') at.required();
  else if (checkName(name, 'dns-subdomain').length > 0) mustBeNameInOneError(at, name, 'dns-subdomain');
  else if (name.split('.').length < 3)
    at.invalid(name, 'should be a domain with at least three segments separated by dots');
}

const MAX_TIMEOUT_SECONDS = 30;

function validateTimeout(at: FieldPath, seconds: number | undefined): void {
  if (seconds !== undefined && (seconds < 1 || seconds > MAX_TIMEOUT_SECONDS))
    at.invalid(seconds, 'the timeout value must be between 1 and 30 seconds');
}
