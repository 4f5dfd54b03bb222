// Written from src/api/idl/rbac/v1.proto by the build. Change that file, not this one.

import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Which cluster roles a cluster role is put together from. */
export type AggregationRule = {
  /** Selects cluster roles by their labels. The rules of each role that any selector matches are taken. */
  clusterRoleSelectors?: LabelSelector[];
};

/** A set of permissions that holds for the cluster, or is used in many namespaces. */
export type ClusterRole = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What the role allows. Overwritten by a controller if aggregationRule is set. */
  rules?: PolicyRule[] | null;
  /** Other cluster roles whose rules are collected in this one. None unless set. */
  aggregationRule?: AggregationRule;
};

/** Grants a cluster role in the whole cluster. */
export type ClusterRoleBinding = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Who gets the role. Nobody unless set. */
  subjects?: Subject[];
  /** The cluster role. Cannot be changed. */
  roleRef?: RoleRef;
};

/** A list of cluster role bindings. */
export type ClusterRoleBindingList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ClusterRoleBindings of this page. */
  items?: ClusterRoleBinding[] | null;
};

/** A list of cluster roles. */
export type ClusterRoleList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ClusterRoles of this page. */
  items?: ClusterRole[] | null;
};

/** Which verbs are allowed on which resources or paths. A rule has either resources or paths. */
export type PolicyRule = {
  /** The verbs, such as get, list, watch, create, update, patch and delete. * is all. */
  verbs?: string[] | null;
  /** API groups of the resources. Empty text is the core group, * is all. */
  apiGroups?: string[];
  /** Names of the resources, in the plural, with the subresource after a slash, such as pods/log. * is all, *\/scale that subresource of all. */
  resources?: string[];
  /** Names of the objects. All unless set. Requests that name no object, such as create, do not match then. */
  resourceNames?: string[];
  /** Paths that are not resources, such as /healthz. A * at the end stands for anything. Only for cluster roles that are granted in the whole cluster. */
  nonResourceURLs?: string[];
};

/** A set of permissions within one namespace. */
export type Role = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What the role allows. */
  rules?: PolicyRule[] | null;
};

/** Grants a role to users, groups or service accounts within one namespace. */
export type RoleBinding = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Who gets the role. Nobody unless set. */
  subjects?: Subject[];
  /** The role, of the same namespace, or a cluster role, whose permissions then hold in this namespace only. Cannot be changed. */
  roleRef?: RoleRef;
};

/** A list of role bindings. */
export type RoleBindingList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The RoleBindings of this page. */
  items?: RoleBinding[] | null;
};

/** A list of roles. */
export type RoleList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Roles of this page. */
  items?: Role[] | null;
};

/** Points to a role or cluster role. */
export type RoleRef = {
  /** API group of the role. rbac.authorization.k8s.io unless set; nothing else is allowed. */
  apiGroup?: string;
  /** Role or ClusterRole. */
  kind?: string;
  /** Name of the role. */
  name?: string;
};

/** A user, a group or a service account. */
export type Subject = {
  /** User, Group or ServiceAccount. */
  kind?: string;
  /** API group of the kind. Empty for ServiceAccount, rbac.authorization.k8s.io for User and Group, unless set. */
  apiGroup?: string;
  /** Name of the user, group or service account. */
  name?: string;
  /** Namespace of the service account. Required for it, not allowed for others. */
  namespace?: string;
};
