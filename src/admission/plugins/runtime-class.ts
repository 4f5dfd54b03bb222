import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { copyJson } from '../../object/copy.ts';
import { objectOf, objectsOf, part } from '../../object/parts.ts';
import { toResourceList } from '../../object/resource-list.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { refusal } from '../refusal.ts';
import { mergeTolerations } from './tolerations.ts';
import { isPodWrite, specOf } from './written-pod.ts';

type Use = (spec: JsonObject, runtimeClass: ApiObject | undefined) => void;

/**
 * What the class of a pod's runtime costs and where it can run become the pod's own; nobody else says what it costs
 * (Kubernetes: plugin/pkg/admission/runtimeclass).
 */
export function createRuntimeClass(objects: ClusterObjects): AdmissionPlugin {
  const classes = new ObjectLookup(objects, { group: 'node.k8s.io', resource: 'runtimeclasses' });
  const withClass = (attributes: AdmissionAttributes, use: Use): Promise<void> | undefined => {
    const { object } = attributes;
    if (!isPodWrite(attributes) || object === undefined) return undefined;
    const spec = specOf(object);
    const { runtimeClassName: name } = spec;
    if (typeof name === 'string')
      return classes.with('', name, (found) => {
        const why = `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`;
        if (found === undefined) throw refusal(attributes, why);
        use(spec, found);
      });
    use(spec, undefined);
    return undefined;
  };
  return {
    name: 'RuntimeClass',
    operations: ['CREATE'],
    mutate: (attributes) =>
      withClass(attributes, (spec, runtimeClass) => {
        if (runtimeClass === undefined) return;
        setOverhead(attributes, spec, runtimeClass);
        setScheduling(attributes, spec, runtimeClass);
      }),
    validate: (attributes) =>
      withClass(attributes, (spec, runtimeClass) => checkOverhead(attributes, spec, runtimeClass)),
  };
}

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function setOverhead(attributes: AdmissionAttributes, spec: JsonObject, runtimeClass: ApiObject): void {
  if (runtimeClass.overhead === undefined) return;
  const { podFixed } = part(runtimeClass, 'overhead');
  const isSet = Object.keys(part(spec, 'overhead')).length > 0;
  if (isSet && !areSameAmounts(spec.overhead, podFixed)) throw refusal(attributes, MISMATCH);
  if (podFixed === undefined) delete spec.overhead;
  else spec.overhead = copyJson(podFixed);
}

function checkOverhead(
  attributes: AdmissionAttributes,
  spec: JsonObject,
  runtimeClass: ApiObject | undefined,
): void {
  if (runtimeClass?.overhead === undefined) {
    if (spec.overhead === undefined) return;
    const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
    throw refusal(attributes, why);
  }
  const { podFixed } = part(runtimeClass, 'overhead');
  if (!areSameAmounts(spec.overhead, podFixed)) throw refusal(attributes, MISMATCH);
}

/** However they are written. */
function areSameAmounts(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  const [some, others] = [toResourceList(a), toResourceList(b)];
  return (
    some.size === others.size && [...some].every(([name, { nanos }]) => others.get(name)?.nanos === nanos)
  );
}

function setScheduling(attributes: AdmissionAttributes, spec: JsonObject, { scheduling }: ApiObject): void {
  if (scheduling === undefined) return;
  const wanted = objectOf(objectOf(scheduling).nodeSelector);
  const held = part(spec, 'nodeSelector');
  for (const [key, value] of Object.entries(wanted)) {
    if (held[key] === undefined || held[key] === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${held[key]}`;
    throw refusal(attributes, why);
  }
  const selector = { ...held, ...wanted };
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  const added = objectsOf(objectOf(scheduling).tolerations).map((toleration) => copyJson(toleration));
  const tolerations = mergeTolerations(objectsOf(spec.tolerations), added);
  if (tolerations.length > 0) spec.tolerations = [...tolerations];
}
