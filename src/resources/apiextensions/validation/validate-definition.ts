import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  WebhookConversion,
} from '../../../api/types/apiextensions/v1.ts';
import { APPROVAL_ANNOTATION, approvalOf, isProtectedGroup } from '../../../object/api-approval.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goList } from '../../../object/go-value.ts';
import { checkName } from '../../../object/text-formats.ts';
import { hasDefault, someSchema } from '../../../structural/schema-node.ts';
import type { Steps } from '../../../util/turns.ts';
import { bundleProblem } from '../../../x509/authority-bundle.ts';
import { mustNotChange } from '../../rules/immutable.ts';
import { mustBeNameInOneError, mustBeOneOf, mustHaveTexts } from '../../rules/name-rules.ts';
import { mustBeReviewVersions, validateWebhookClient } from '../../rules/webhook-client-rules.ts';
import { validateVersions } from './validate-versions.ts';

/**
 * An unchanged spec counts as valid: a status is written more often, and validating a schema takes long. So a spec stored under
 * older rules does not block writes of its status.
 */
export function* validateInSteps(
  root: FieldPath,
  definition: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): Steps<void> {
  if (old === undefined || !equal(definition.spec, old.spec)) yield* validateSpec(root, definition);
  validateStatus(root, definition);
  validateApproval(root, definition, old);
}

function* validateSpec(root: FieldPath, { metadata, spec = {} }: CustomResourceDefinition): Steps<void> {
  const { group = '', names = {} } = spec;
  const { name = '' } = metadata;
  const at = root.field('spec');
  if (name !== `${names.plural ?? ''}.${group}`)
    root.field('metadata').field('name').invalid(name, 'must be spec.names.plural+"."+spec.group');
  validateGroup(at.field('group'), group);
  validateScope(at.field('scope'), spec.scope ?? '');
  yield* validateVersions(at, spec.versions);
  mustBeVersion(at.field('version'), spec.versions?.[0]?.name ?? '');
  mustBeGiven(at.field('names'), names);
  validateNames(at.field('names'), names);
  validateConversion(at, spec);
  validatePreservation(at.field('preserveUnknownFields'), spec);
}

/** Validates v1beta1's `version`, the name of the first version. */
function mustBeVersion(at: FieldPath, name: string): void {
  if (name !== '') mustBeNameInOneError(at, name, 'dns-1035-label');
}

function validateStatus(root: FieldPath, { spec = {}, status = {} }: CustomResourceDefinition): void {
  const at = root.field('status');
  validateNames(at.field('acceptedNames'), status.acceptedNames ?? {});
  validateStoredVersions(at.field('storedVersions'), status, spec);
}

/** An approval may stay invalid: a writer of other fields may not know the annotation. */
function validateApproval(
  root: FieldPath,
  { metadata, spec }: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): void {
  if (!isProtectedGroup(spec?.group ?? '')) return;
  const { state, message } = approvalOf(metadata.annotations);
  if (old !== undefined && approvalOf(old.metadata.annotations).state === state) return;
  const at = root.field('metadata').field('annotations').item(APPROVAL_ANNOTATION);
  if (state === 'Missing') at.required(message);
  else if (state === 'Invalid') at.invalid(metadata.annotations?.[APPROVAL_ANNOTATION] ?? '', message);
}

function validateGroup(at: FieldPath, group: string): void {
  if (group === '') at.required();
  else if (checkName(group, 'dns-subdomain').length > 0) mustBeNameInOneError(at, group, 'dns-subdomain');
  else if (!group.includes('.')) at.invalid(group, 'should be a domain with at least one dot');
}

const SCOPES = ['Cluster', 'Namespaced'];

function validateScope(at: FieldPath, scope: string): void {
  if (scope === '') at.required();
  else mustBeOneOf(at, scope, SCOPES);
}

/** v1beta1 could keep unknown fields everywhere; v1 requires each schema to do so itself. */
function validatePreservation(
  at: FieldPath,
  { preserveUnknownFields, versions }: CustomResourceDefinitionSpec,
): void {
  if (preserveUnknownFields !== true) return;
  const hasDefaults = (versions ?? []).some(({ schema }) =>
    someSchema(schema?.openAPIV3Schema ?? {}, hasDefault),
  );
  if (hasDefaults) at.invalid(true, 'must be false in order to use defaults in the schema');
  const why =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  at.invalid(true, why);
}

/** Versions in which objects may still be stored must stay known. */
function validateStoredVersions(
  at: FieldPath,
  status: CustomResourceDefinitionStatus,
  spec: CustomResourceDefinitionSpec,
): void {
  const stored = status.storedVersions ?? [];
  if (stored.length === 0) {
    at.invalid(goList('string', status.storedVersions), 'must have at least one stored version');
    return;
  }
  const versions = spec.versions ?? [];
  for (const { name = '', storage } of versions)
    if (storage === true && !stored.includes(name))
      at.invalid(stored, `must have the storage version ${name}`);
  const known = new Set(versions.map(({ name }) => name));
  for (const [path, name] of at.each(stored))
    if (!known.has(name)) path.invalid(name, unservedProblem(path, name));
}

/** Since 1.33, the error says how a version goes that objects may be stored in. */
function unservedProblem(at: FieldPath, version: string): string {
  if (at.minor < 33) return 'must appear in spec.versions';
  return `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
}

/** Group and plural make up the name; scope and kind are in every stored object, so they stay once there may be any. */
export function validateUpdate(
  root: FieldPath,
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): void {
  const at = root.field('spec');
  const { spec = {} } = definition;
  const { spec: before = {} } = old;
  if (isEstablished(old)) {
    mustNotChange(at.field('scope'), spec.scope, before.scope);
    mustNotChange(at.field('names').field('kind'), spec.names?.kind, before.names?.kind);
    validateAuthorities(at, spec, before);
  }
  mustNotChange(at.field('group'), spec.group, before.group);
  mustNotChange(at.field('names').field('plural'), spec.names?.plural, before.names?.plural);
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ===
  true;

/** Names that a spec must have. Those of a status exist once they are accepted. */
const mustBeGiven = (at: FieldPath, names: CustomResourceDefinitionNames): void =>
  mustHaveTexts(at, names, ['plural', 'singular', 'kind', 'listKind']);

function validateNames(at: FieldPath, names: CustomResourceDefinitionNames): void {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames, categories } = names;
  mustBeLabel(at.field('plural'), plural);
  mustBeLabel(at.field('singular'), singular);
  mustBeKind(at.field('kind'), kind);
  mustBeKind(at.field('listKind'), listKind);
  for (const [path, name] of at.field('shortNames').each(shortNames)) mustBeLabel(path, name);
  if (kind !== '' && kind === listKind)
    at.field('listKind').invalid(listKind, 'kind and listKind may not be the same');
  for (const [path, name] of at.field('categories').each(categories)) mustBeLabel(path, name);
}

function mustBeLabel(at: FieldPath, name: string): void {
  if (name !== '') mustBeNameInOneError(at, name, 'dns-1035-label');
}

function mustBeKind(at: FieldPath, kind: string): void {
  const problems = kind === '' ? [] : checkName(kind.toLowerCase(), 'dns-1035-label');
  if (problems.length > 0)
    at.invalid(kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}

/**
 * Conversion between the versions of a resource: by apiVersion alone, or by a webhook. As in Kubernetes, the paths of its
 * fields omit `webhook`.
 */

const STRATEGIES = ['None', 'Webhook'];

/** `at` is the spec. */
function validateConversion(at: FieldPath, spec: CustomResourceDefinitionSpec): void {
  const { strategy = '', webhook = {} } = spec.conversion ?? {};
  const path = at.field('conversion');
  if (spec.preserveUnknownFields === true && strategy !== 'None')
    path.field('strategy').invalid(strategy, 'must be None if spec.preserveUnknownFields is true');
  if (strategy === '') path.field('strategy').required();
  else mustBeOneOf(path.field('strategy'), strategy, STRATEGIES);
  if (strategy === 'Webhook') validateWebhook(path, webhook);
  else mustNotBeGiven(path, webhook);
}

function validateWebhook(at: FieldPath, { clientConfig, conversionReviewVersions }: WebhookConversion): void {
  const client = at.field('webhookClientConfig');
  const versions = at.field('conversionReviewVersions');
  if (clientConfig === undefined) client.required('required when strategy is set to Webhook');
  else validateWebhookClient(client, clientConfig);
  const given = conversionReviewVersions ?? [];
  if (given.length === 0) versions.required();
  else mustBeReviewVersions(versions, given);
}

function mustNotBeGiven(at: FieldPath, { clientConfig, conversionReviewVersions }: WebhookConversion): void {
  const why = 'should not be set when strategy is not set to Webhook';
  if (clientConfig !== undefined) at.field('webhookClientConfig').forbidden(why);
  if ((conversionReviewVersions ?? []).length > 0) at.field('conversionReviewVersions').forbidden(why);
}

/** Certificates that cannot be read are allowed until the resource is established, and where they were before. `at` is the spec. */
function validateAuthorities(
  at: FieldPath,
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec,
): void {
  const bundle = authoritiesOf(spec);
  const problem = bundleProblem(bundle);
  if (problem === undefined || bundleProblem(authoritiesOf(old)) !== undefined) return;
  at.field('conversion').field('webhookClientConfig').field('caBundle').invalid(bundle, problem);
}

const authoritiesOf = ({ conversion }: CustomResourceDefinitionSpec): string =>
  conversion?.webhook?.clientConfig?.caBundle ?? '';
