/** Kinds of objects that a node may read because its pods need them. */
export type RelatedKind =
  | 'secret'
  | 'configmap'
  | 'persistentvolumeclaim'
  | 'persistentvolume'
  | 'resourceclaim'
  | 'resourceslice'
  | 'volumeattachment'
  | 'serviceaccount';

/** Tells the Node authorizer which objects concern a node. NodeGraph answers from watches. */
export interface NodeRelations {
  /** `namespace` is '' for cluster-scoped objects. */
  isRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean;
}

/** One object that a pod or volume refers to, as a key. */
export type Reference = string;

export const toReference = (kind: RelatedKind, namespace: string, name: string): Reference =>
  `${kind}\0${namespace}\0${name}`;
