import type { ApiObject, ObjectMeta } from '../../api/object-meta.ts';
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../api/types/apps/v1.ts';
import type { CronJob, Job } from '../../api/types/batch/v1.ts';
import type { Pod, PodSpec, PodTemplate, ReplicationController } from '../../api/types/core/v1.ts';
import { table } from '../../util/table.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** The lists of containers in a pod spec, in the order in which they start. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** A pod, or the pod template of a workload. */
interface Template {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
}

/** Finds the pod spec in the objects of a resource, which are of type `T`. */
interface TemplateReader<T extends ApiObject = ApiObject> {
  /** Of the pod spec. */
  readonly path: string;
  read(object: T): Template | undefined;
}

const OF_POD: TemplateReader<Pod> = { path: 'spec', read: (pod) => pod };

const OF_WORKLOAD: TemplateReader<
  Deployment | ReplicaSet | StatefulSet | DaemonSet | Job | ReplicationController
> = { path: 'spec.template.spec', read: ({ spec }) => spec?.template };

const OF_TEMPLATE: TemplateReader<PodTemplate> = { path: 'template.spec', read: ({ template }) => template };

const OF_CRON_JOB: TemplateReader<CronJob> = {
  path: 'spec.jobTemplate.spec.template.spec',
  read: ({ spec }) => spec?.jobTemplate?.spec?.template,
};

/** By group, then by resource; only resources with a pod spec. */
const READERS: Readonly<Record<string, Readonly<Record<string, TemplateReader>>>> = table({
  '': { pods: OF_POD, podtemplates: OF_TEMPLATE, replicationcontrollers: OF_WORKLOAD },
  apps: {
    deployments: OF_WORKLOAD,
    replicasets: OF_WORKLOAD,
    statefulsets: OF_WORKLOAD,
    daemonsets: OF_WORKLOAD,
  },
  batch: { jobs: OF_WORKLOAD, cronjobs: OF_CRON_JOB },
});

interface FoundPodSpec {
  readonly spec: PodSpec;
  /** The annotations of the pod, or of the template. */
  readonly annotations: ObjectMeta['annotations'];
  readonly path: string;
}

/** The pod spec of an object; undefined for objects without one, such as the bodies of subresources. */
export function podSpecOf(
  { definition }: AdmissionAttributes,
  object: ApiObject | undefined,
): FoundPodSpec | undefined {
  const reader = READERS[definition.group]?.[definition.resource];
  const template = object && reader?.read(object);
  if (reader === undefined || template?.spec === undefined) return undefined;
  return { spec: template.spec, annotations: template.metadata?.annotations, path: reader.path };
}

/** The spec of a pod, to be changed in place; a pod that came without one gets an empty one. */
export function specOf(pod: Pod): PodSpec {
  pod.spec ??= {};
  return pod.spec;
}

/** Whether the kubelet made the pod to mirror one of its static pods. Plugins must not change such a pod. */
export const isMirrorPod = ({ metadata }: Pod): boolean =>
  metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
