import { NAMESPACES, PODS } from '../../api/known-resources.ts';
import type { JsonValue } from '../../api/object-meta.ts';
import { forbidden, internalError, unknownError } from '../../api/status.ts';
import type { Namespace, PodSpec } from '../../api/types/core/v1.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { isObject } from '../../object/json-values.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/text-formats.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts } from '../plugin.ts';
import { specOf } from './pod-specs.ts';

const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';

/** By namespace: the node labels that its pods may select. One entry is the default of namespaces without a selector. */
type NodeSelectors = ReadonlyMap<string, string>;
type Labels = ReadonlyMap<string, string>;

/**
 * Restricts the pods of a namespace to the nodes that its annotation, or a default for the cluster, selects
 * (Kubernetes: plugin/pkg/admission/podnodeselector).
 */
export function createPodNodeSelector(objects: ClusterObjects, selectors: NodeSelectors): AdmissionPlugin {
  const namespaces = new ObjectLookup(objects, NAMESPACES);
  const withSelector = (
    attributes: AdmissionAttributes,
    use: (spec: PodSpec, selector: Labels) => void,
  ): Promise<void> | undefined => {
    if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return undefined;
    const { namespace, object, definition, foreseen } = attributes;
    const take = (found: Namespace | undefined): void => {
      if (found === undefined) throw internalError(`namespace ${namespace} does not exist`);
      const selector = selectorOf(found, selectors);
      const spec = specOf(object);
      const why = 'pod node label selector conflicts with its namespace node label selector';
      if (conflicts(selector, labelsOf(spec))) throw forbidden(definition, attributes.name, why);
      use(spec, selector);
    };
    return namespaces.with('', namespace, take, foreseen);
  };
  return {
    name: 'PodNodeSelector',
    operations: ['CREATE'],
    mutate: (attributes) =>
      withSelector(attributes, (spec, selector) => {
        const merged = new Map([...selector, ...labelsOf(spec)]);
        if (merged.size > 0) spec.nodeSelector = Object.fromEntries(merged);
        refuseUnlisted(attributes, spec, selectors);
      }),
    validate: (attributes) => withSelector(attributes, (spec) => refuseUnlisted(attributes, spec, selectors)),
  };
}

const labelsOf = ({ nodeSelector = {} }: PodSpec): Labels => new Map(Object.entries(nodeSelector));

const conflicts = (some: Labels, others: Labels): boolean =>
  [...some].some(([key, value]) => others.has(key) && others.get(key) !== value);

function selectorOf({ metadata }: Namespace, selectors: NodeSelectors): Labels {
  return parseLabels(metadata.annotations?.[ANNOTATION] ?? selectors.get(CLUSTER_DEFAULT) ?? '');
}

function refuseUnlisted(
  { definition, namespace, name }: AdmissionAttributes,
  spec: PodSpec,
  selectors: NodeSelectors,
): void {
  const listed = parseLabels(selectors.get(namespace) ?? '');
  if (listed.size === 0 || [...labelsOf(spec)].every(([key, value]) => listed.get(key) === value)) return;
  throw forbidden(definition, name, 'pod node label selector labels conflict with its namespace whitelist');
}

/** `env=prod,zone=a`. @throws StatusError 500 with the text of the annotation */
function parseLabels(selector: string): Labels {
  const labels = new Map<string, string>();
  if (selector === '') return labels;
  for (const pair of selector.split(',')) {
    const [key = '', value, more] = pair.split('=').map((side) => side.trim());
    if (value === undefined || more !== undefined)
      throw unknownError(`invalid selector: [${pair.split('=').join(' ')}]`);
    refuseInvalid('<nil>', key, checkQualifiedName(key));
    refuseInvalid(`[${key}]`, value, checkLabelValue(value));
    labels.set(key, value);
  }
  return labels;
}

function refuseInvalid(path: string, value: string, reasons: readonly string[]): void {
  if (reasons.length === 0) return;
  const { field, message } = invalidValue(path, value, reasons.join('; '));
  throw unknownError(`${field}: ${message}`);
}

/**
 *   podNodeSelectorPluginConfig:
 *     clusterDefaultNodeSelector: env=development
 *     <namespace>: env=production,zone=a
 *
 * @throws Error
 */
export function readNodeSelectors(config: JsonValue | undefined): NodeSelectors {
  const name = 'podNodeSelectorPluginConfig';
  if (config === undefined) return new Map();
  const selectors = isObject(config) ? (config[name] ?? {}) : undefined;
  if (!isObject(selectors)) throw new Error(`PodNodeSelector configuration: ${name} must hold selectors`);
  return new Map(
    Object.entries(selectors).map(([namespace, selector]) => {
      if (typeof selector === 'string') return [namespace, selector];
      throw new Error(`PodNodeSelector configuration: ${name}.${namespace} must be a text`);
    }),
  );
}

export const podNodeSelector = describePlugin({
  name: 'PodNodeSelector',
  isDefault: false,
  create: ({ objects, config }: Pick<PluginParts, 'objects' | 'config'>) =>
    createPodNodeSelector(objects, readNodeSelectors(config)),
});
