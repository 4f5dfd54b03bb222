import type { ResourceOf } from '../../api/names.ts';
import type { Ingress, IngressClass } from '../../api/types/networking/v1.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { describePlugin, type PluginParts } from '../plugin.ts';
import { isWriteOf } from '../write-of.ts';
import { newestDefault } from './newest-default.ts';

const INGRESSES: ResourceOf<Ingress> = { group: 'networking.k8s.io', resource: 'ingresses' };
const CLASSES: ResourceOf<IngressClass> = { group: 'networking.k8s.io', resource: 'ingressclasses' };
const DEFAULT_ANNOTATIONS = ['ingressclass.kubernetes.io/is-default-class'];
/** Where the class of an ingress stood before it had a field. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An ingress that names no class gets the default one, if there is one (Kubernetes: network/defaultingressclass). */
export function createDefaultIngressClass(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow(CLASSES);
  return {
    name: 'DefaultIngressClass',
    operations: ['CREATE'],
    mutate: (attributes) => {
      if (!isWriteOf(attributes, INGRESSES) || attributes.object === undefined) return;
      const { object } = attributes;
      const { spec = {} } = object;
      if (
        spec.ingressClassName !== undefined ||
        object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined
      )
        return;
      const name = newestDefault(classes.in(''), DEFAULT_ANNOTATIONS);
      if (name !== undefined) object.spec = { ...spec, ingressClassName: name };
    },
  };
}

export const defaultIngressClass = describePlugin({
  name: 'DefaultIngressClass',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createDefaultIngressClass(objects),
});
