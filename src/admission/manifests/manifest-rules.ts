import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { ResourceOf } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/types/admissionregistration/v1.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  forbiddenField,
  invalidValue,
  throwProblems,
} from '../../object/field-errors.ts';
import { stringOf } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import type { PluginParts } from '../plugin.ts';
import type { WebhookConfiguration } from '../webhooks/webhook.ts';
import type { ManifestRules, StaticObjects } from './manifest-folder.ts';
import { STATIC_SUFFIX } from './static-suffix.ts';

const GATE = 'ManifestBasedAdmissionControlConfig';
const FIELD = 'staticManifestsDir';

/** Opens the folder of a plugin's configuration; undefined: the configuration names none. @throws Error */
export type OpenManifests = (config: JsonObject, rules: ManifestRules) => StaticObjects | undefined;

const API_VERSIONS = ['k8s.io', 'cluster.io'].map((domain) => `apiserver.config.${domain}/v1`);

interface PolicyManifestNeeds extends Pick<PluginParts, 'config'> {
  readonly openManifests: OpenManifests;
}

/**
 * The folder that the configuration of a plugin of policies names:
 *
 *   apiVersion: apiserver.config.k8s.io/v1
 *   kind: ValidatingAdmissionPolicyConfiguration
 *   staticManifestsDir: /etc/kubernetes/admission/policies
 *
 * @throws Error about the configuration, or a file of the folder
 */
export function openPolicyManifests(
  { config, openManifests }: PolicyManifestNeeds,
  rules: ManifestRules,
): StaticObjects | undefined {
  if (config === undefined) return undefined;
  const object = asObject(config);
  const problems: FieldError[] = [];
  checkOneOf(object.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(object.kind, [`${rules.plugin}Configuration`], 'kind', problems);
  checkFields(object, ['apiVersion', 'kind', FIELD], '', problems);
  throwProblems(`configuration of ${rules.plugin}`, problems);
  return openManifests(object, rules);
}

/** '' for none. @throws Error */
export function staticManifestsDir(
  { staticManifestsDir: given = '' }: JsonObject,
  isFeatureOn: (gate: string) => boolean,
): string {
  const dir = stringOf(given);
  const why = given === '' ? undefined : whyNoDirectory(dir);
  throwProblems('configuration', [
    ...(given === '' || isFeatureOn(GATE) ? [] : [forbiddenField(FIELD, `needs the feature gate ${GATE}`)]),
    ...(why === undefined ? [] : [invalidValue(FIELD, given, why)]),
  ]);
  return dir;
}

function whyNoDirectory(dir: string): string | undefined {
  if (!isAbsolute(dir)) return 'must be an absolute file path';
  try {
    return statSync(dir).isDirectory() ? undefined : 'must be a directory';
  } catch (error) {
    return `unable to read: ${errorText(error)}`;
  }
}

/** A webhook in a file has a URL, because services may not be there when the server starts. */
export const webhookManifests = (
  plugin: string,
  kind: string,
  resource: ResourceOf<WebhookConfiguration>,
): ManifestRules => ({
  plugin,
  kinds: [
    {
      kind,
      resource,
      restrict: ({ webhooks = [] }: WebhookConfiguration) => {
        for (const { name, clientConfig: { url = '', service } = {} } of webhooks)
          if (service !== undefined || url === '')
            throw new Error(
              `the clientConfig of webhook ${JSON.stringify(name)} must have a url and no service`,
            );
      },
    },
  ],
});

type ManifestPolicy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;
type ManifestBinding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

/** Policies in files have no parameters, which would be objects of the API. A binding is for a policy of the same folder. */
export const policyManifests = (
  plugin: string,
  policies: ResourceOf<ManifestPolicy>,
  bindings: ResourceOf<ManifestBinding>,
): ManifestRules => ({
  plugin,
  kinds: [
    {
      kind: plugin,
      resource: policies,
      restrict: ({ spec }: ManifestPolicy) => {
        if (spec?.paramKind !== undefined) throw new Error('a manifest may not have spec.paramKind');
      },
    },
    {
      kind: `${plugin}Binding`,
      resource: bindings,
      restrict: ({ spec = {} }: ManifestBinding) => {
        if (spec.paramRef !== undefined) throw new Error('a manifest may not have spec.paramRef');
        if (!(spec.policyName ?? '').endsWith(STATIC_SUFFIX))
          throw new Error(`spec.policyName must end with "${STATIC_SUFFIX}"`);
      },
    },
  ],
  restrictAll: (objects) => {
    const names = new Set(objects.in(policies).map(({ metadata }) => metadata.name));
    for (const { metadata, spec } of objects.in(bindings))
      if (!names.has(spec?.policyName))
        throw new Error(
          `${plugin}Binding ${JSON.stringify(metadata.name)} is for the policy ${JSON.stringify(spec?.policyName)}, ` +
            'which no file of its folder has',
        );
  },
});
