import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { repeatedKeyProblems } from '../../codec/yaml-problems.ts';
import { parseYamlText } from '../../codec/yaml-text.ts';
import { asObject, checkFields, checkOneOf } from '../../object/config-fields.ts';
import { duplicate, invalidValue, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { type AuthorizerConfig, isMode, MODES, type Mode, nameOfMode } from './modes.ts';
import { parseWebhookConfig } from './webhook-config.ts';

/**
 * The file of --authorization-config, in YAML or JSON:
 *
 *   apiVersion: apiserver.config.k8s.io/v1beta1
 *   kind: AuthorizationConfiguration
 *   authorizers:
 *   - {type: Node, name: node}
 *   - {type: RBAC, name: rbac}
 *
 * The checks are Kubernetes' (apiserver, pkg/apis/apiserver/validation), but unknown fields are refused.
 */

const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) =>
  ['v1alpha1', 'v1beta1'].map((version) => `apiserver.config.${domain}/${version}`),
);

/**
 * `requiredModes` must be among the authorizers: on a reload the modes that the server started with.
 * @throws Error with all problems
 */
export function parseAuthorizationConfig(
  text: string,
  requiredModes: readonly Mode[] = [],
): AuthorizerConfig[] {
  const { value, duplicates } = parseYamlText(Buffer.from(text));
  const file = asObject(value);
  const problems: FieldError[] = [];
  problems.push(...repeatedKeyProblems(duplicates));
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['AuthorizationConfiguration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'authorizers'], '', problems);
  const listed = Array.isArray(file.authorizers) ? file.authorizers.map(asObject) : [];
  if (listed.length === 0) {
    problems.push(required('authorizers', 'at least one authorization mode must be defined'));
  }
  const authorizers = listed.flatMap((authorizer, at) =>
    parseAuthorizer(authorizer, `authorizers[${at}]`, problems),
  );
  checkRepetitions(authorizers, problems);
  const errors = problems.map(({ field, message }) => `${field}: ${message}`);
  const modes = authorizers.map(({ type }) => type);
  const missing = requiredModes.filter((mode) => !modes.includes(mode));
  if (missing.length > 0) errors.push(`missing required types: [${missing.join(' ')}]`);
  if (errors.length > 0) throw new Error(`authorization configuration: ${errors.join(', ')}`);
  return authorizers;
}

function parseAuthorizer(authorizer: JsonObject, path: string, problems: FieldError[]): AuthorizerConfig[] {
  checkFields(authorizer, ['type', 'name', 'webhook'], path, problems);
  const { type, name = '', webhook } = authorizer;
  checkOneOf(type, MODES, `${path}.type`, problems);
  if (typeof type !== 'string' || !isMode(type)) return [];
  checkAuthorizerName(String(name), type, `${path}.name`, problems);
  if (type === 'Webhook') {
    if (webhook === undefined || webhook === null) {
      problems.push(required(`${path}.webhook`, 'required when type=Webhook'));
      return [];
    }
    const config = parseWebhookConfig(asObject(webhook), `${path}.webhook`, problems);
    return [{ type, name: String(name), webhook: config }];
  }
  if (webhook !== undefined && webhook !== null) {
    problems.push(invalidValue(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook'));
  }
  return [{ type, name: String(name) }];
}

function checkAuthorizerName(name: string, type: Mode, field: string, problems: FieldError[]): void {
  if (name === '') {
    problems.push(required(field));
    return;
  }
  const reasons = checkName(name, 'dns-subdomain');
  if (reasons.length > 0) {
    problems.push(invalidValue(field, name, `authorizer name is invalid: ${reasons.join(', ')}`));
  }
  if (type === 'Webhook' || name === nameOfMode(type)) return;
  problems.push(invalidValue(field, name, `expected name ${nameOfMode(type)} for authorizer ${type}`));
}

/** Names, and modes other than Webhook, must be unique. */
function checkRepetitions(authorizers: readonly AuthorizerConfig[], problems: FieldError[]): void {
  const seen = new Set<string>();
  for (const [at, { type, name }] of authorizers.entries()) {
    const key = type === 'Webhook' ? `name ${name}` : `type ${type}`;
    if (seen.has(key)) {
      const [field, value] = type === 'Webhook' ? ['name', name] : ['type', type];
      problems.push(duplicate(`authorizers[${at}].${field}`, value));
    }
    seen.add(key);
  }
}
