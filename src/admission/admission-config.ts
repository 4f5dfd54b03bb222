import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { repeatedKeyProblems } from '../codec/yaml-problems.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  duplicate,
  invalidValue,
  notSupported,
  throwProblems,
} from '../object/field-errors.ts';
import { type AdmissionPluginName, findPlugin, PLUGIN_NAMES } from './all-plugins.ts';

/**
 * The file of --admission-control-config-file, in YAML or JSON:
 *
 *   apiVersion: apiserver.config.k8s.io/v1
 *   kind: AdmissionConfiguration
 *   plugins:
 *   - name: PodSecurity
 *     configuration: {…}        # or `path`, a file of its own, relative to this one
 */
const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) => [
  `apiserver.config.${domain}/v1`,
  `apiserver.${domain}/v1alpha1`,
]);

/** The configuration of one plugin: its value, or the path of its own file. */
export type PluginConfig = { readonly value: JsonValue } | { readonly path: string };

/** @throws Error with all problems */
export function parseAdmissionConfig(text: string): ReadonlyMap<AdmissionPluginName, PluginConfig> {
  const { value, duplicates } = parseYamlText(Buffer.from(text));
  const file = asObject(value);
  const problems = repeatedKeyProblems(duplicates);
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['AdmissionConfiguration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'plugins'], '', problems);
  const configs = new Map<AdmissionPluginName, PluginConfig>();
  const plugins = Array.isArray(file.plugins) ? file.plugins.map(asObject) : [];
  for (const [at, plugin] of plugins.entries()) {
    const path = `plugins[${at}]`;
    checkFields(plugin, ['name', 'path', 'configuration'], path, problems);
    const found = typeof plugin.name === 'string' ? findPlugin(plugin.name) : undefined;
    if (found === undefined) {
      problems.push(notSupported(`${path}.name`, plugin.name ?? '', PLUGIN_NAMES));
    } else if (configs.has(found.name)) {
      problems.push(duplicate(`${path}.name`, found.name));
    } else {
      const config = readPluginConfig(plugin, path, problems);
      if (config !== undefined) configs.set(found.name, config);
    }
  }
  throwProblems('admission configuration', problems);
  return configs;
}

/** `configuration` wins over `path`, as in Kubernetes. */
function readPluginConfig(
  { path: file = '', configuration }: JsonObject,
  path: string,
  problems: FieldError[],
): PluginConfig | undefined {
  if (configuration !== undefined && configuration !== null) return { value: configuration };
  if (typeof file === 'string') return file === '' ? undefined : { path: file };
  problems.push(invalidValue(`${path}.path`, file, 'must be the path of a file'));
  return undefined;
}
