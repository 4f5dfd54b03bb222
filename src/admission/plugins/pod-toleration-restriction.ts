import { NAMESPACES, PODS } from '../../api/known-resources.ts';
import type { JsonValue } from '../../api/object-meta.ts';
import { type FieldError, notFound, unknownError } from '../../api/status.ts';
import type { Namespace, Pod, Toleration } from '../../api/types/core/v1.ts';
import { asObject, checkFields, checkOneOf, throwProblems } from '../../object/field-errors.ts';
import { isObject, objectsOf } from '../../object/json-values.ts';
import { qosClass } from '../../object/pod-spec.ts';
import { errorText } from '../../util/error-text.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts } from '../plugin.ts';
import { specOf } from './pod-specs.ts';
import { areAllowed, mergeTolerations } from './tolerations.ts';

const DEFAULT = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const ALLOWED = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const MEMORY_PRESSURE = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** For namespaces without annotations. */
interface ClusterTolerations {
  readonly default: readonly Toleration[];
  readonly whitelist: readonly Toleration[];
}

/**
 * Gives pods the tolerations of their namespace, and refuses those that the namespace does not allow
 * (Kubernetes: plugin/pkg/admission/podtolerationrestriction).
 */
export function createPodTolerationRestriction(
  objects: ClusterObjects,
  cluster: ClusterTolerations,
): AdmissionPlugin {
  const namespaces = new ObjectLookup(objects, NAMESPACES);
  const withNamespace = (
    attributes: AdmissionAttributes,
    use: (pod: Pod, namespace: Namespace) => void,
  ): Promise<void> | undefined => {
    if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return undefined;
    const { namespace, object, foreseen } = attributes;
    const take = (found: Namespace | undefined): void => {
      if (found === undefined) throw notFound(NAMESPACES, namespace);
      use(object, found);
    };
    return namespaces.with('', namespace, take, foreseen);
  };
  return {
    name: 'PodTolerationRestriction',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) =>
      withNamespace(attributes, (pod, namespace) => {
        const given =
          attributes.operation === 'CREATE' ? (tolerationsIn(namespace, DEFAULT) ?? cluster.default) : [];
        addTolerations(pod, given);
        refuseOthers(pod, namespace, cluster);
      }),
    validate: (attributes) =>
      withNamespace(attributes, (pod, namespace) => refuseOthers(pod, namespace, cluster)),
  };
}

function addTolerations(pod: Pod, given: readonly Toleration[]): void {
  const spec = specOf(pod);
  const isBestEffort = (pod.status?.qosClass || qosClass(spec)) === 'BestEffort';
  const added = isBestEffort ? given : [...given, MEMORY_PRESSURE];
  if (added.length === 0) return;
  const copies = added.map((toleration) => ({ ...toleration }));
  spec.tolerations = mergeTolerations(spec.tolerations ?? [], copies);
}

/** Refuses as Kubernetes does: its error is no Status, so clients get an unknown error. */
function refuseOthers(pod: Pod, namespace: Namespace, cluster: ClusterTolerations): void {
  const { tolerations = [] } = specOf(pod);
  if (tolerations.length === 0) return;
  const own = tolerationsIn(namespace, ALLOWED);
  if (areAllowed(tolerations, own ?? cluster.whitelist)) return;
  const scope = own === undefined ? 'cluster' : 'namespace';
  throw unknownError(
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
  );
}

/** Undefined: the namespace lacks the annotation. An empty text is an empty list. */
function tolerationsIn({ metadata }: Namespace, annotation: string): readonly Toleration[] | undefined {
  const value = metadata.annotations?.[annotation];
  if (value === undefined) return undefined;
  if (value === '') return [];
  const list = parseJson(value);
  if (list === null) return [];
  const tolerations = Array.isArray(list) ? list.map(withoutNulls) : [undefined];
  if (tolerations.every(isToleration)) return tolerations;
  throw unknownError(
    `annotation ${annotation} of namespace ${metadata.name ?? ''} is no list of tolerations`,
  );
}

/** A field that is null is an absent one, as in every other object. */
const withoutNulls = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value;

const TEXTS = ['key', 'operator', 'value', 'effect'];

function isToleration(value: unknown): value is Toleration {
  if (!isObject(value)) return false;
  const { tolerationSeconds } = value;
  return (
    TEXTS.every((field) => value[field] === undefined || typeof value[field] === 'string') &&
    (tolerationSeconds === undefined || Number.isSafeInteger(tolerationSeconds))
  );
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw unknownError(errorText(error), error);
  }
}

/** The errors of a list of tolerations; each field begins with the path. */
type CheckTolerations = (tolerations: readonly Toleration[], path: string) => FieldError[];

const API_VERSIONS = ['k8s.io', 'cluster.io'].map(
  (domain) => `podtolerationrestriction.admission.${domain}/v1alpha1`,
);

/**
 *   apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
 *   kind: Configuration
 *   default: [{key: dedicated, operator: Exists}]
 *   whitelist: [{key: dedicated, operator: Exists}]
 *
 * @throws Error with all problems
 */
export function readClusterTolerations(
  config: JsonValue | undefined,
  check: CheckTolerations,
): ClusterTolerations {
  if (config === undefined) return { default: [], whitelist: [] };
  const file = asObject(config);
  const problems: FieldError[] = [];
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['Configuration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'default', 'whitelist'], '', problems);
  const tolerations = { default: objectsOf(file.default), whitelist: objectsOf(file.whitelist) };
  problems.push(...check(tolerations.default, 'podtolerationrestriction.default'));
  problems.push(...check(tolerations.whitelist, 'podtolerationrestriction.whitelist'));
  throwProblems('PodTolerationRestriction configuration', problems);
  return tolerations;
}

export const podTolerationRestriction = describePlugin({
  name: 'PodTolerationRestriction',
  isDefault: false,
  create: ({
    objects,
    config,
    checkTolerations,
  }: Pick<PluginParts, 'objects' | 'config'> & { readonly checkTolerations: CheckTolerations }) =>
    createPodTolerationRestriction(objects, readClusterTolerations(config, checkTolerations)),
});
