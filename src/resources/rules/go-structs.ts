import type {
  EventSource,
  HostIP,
  NodeAddress,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  ObjectReference,
  PodIP,
  ServicePort,
  Taint,
  Toleration,
} from '../../api/types/core/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import type { ParentReference } from '../../api/types/networking/v1beta1.ts';
import type { RoleRef } from '../../api/types/rbac/v1.ts';
import type { CSINodeDriver } from '../../api/types/storage/v1.ts';
import {
  type GoText,
  goList,
  goStrings,
  goStruct,
  goText,
  goValue,
  shownJson,
} from '../../object/go-value.ts';

/**
 * Structs of messages that clients know by heart, as Go writes them (fmt, `%#v`): every field of the type, in its order, as the
 * internal types of Kubernetes have them.
 *
 *   spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"web"}, …}: field is immutable
 */

/** A pointer. Where it points to is an address in Go, and the value itself here. */
const pointer = (type: string, value: unknown): GoText =>
  goText(`(*${type})(${value === undefined ? 'nil' : goValue(value)})`, shownJson(value));

export function goLabelSelector(selector: LabelSelector | undefined): GoText {
  if (selector === undefined) return goText('null');
  const { matchLabels, matchExpressions = [] } = selector;
  const requirements = matchExpressions.map(({ key = '', operator = '', values }) =>
    goStruct('v1.LabelSelectorRequirement', {
      Key: key,
      Operator: operator,
      Values: goList('string', values),
    }),
  );
  const { text } = goStruct('v1.LabelSelector', {
    MatchLabels: goStrings(matchLabels),
    MatchExpressions: goList(
      'v1.LabelSelectorRequirement',
      requirements.length === 0 ? undefined : requirements,
    ),
  });
  return goText(text, jsonOfSelector(selector));
}

/** The type is one of the API: its JSON has the API's names and omits what is empty. */
function jsonOfSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const hasLabels = Object.keys(matchLabels).length > 0;
  const expressions = matchExpressions.map(({ key = '', operator = '', values = [] }) => {
    const start = `{"key":${shownJson(key)},"operator":${shownJson(operator)}`;
    return values.length > 0 ? `${start},"values":${shownJson(values)}}` : `${start}}`;
  });
  const parts = [
    ...(hasLabels ? [`"matchLabels":${shownJson(matchLabels)}`] : []),
    ...(expressions.length > 0 ? [`"matchExpressions":[${expressions.join(',')}]`] : []),
  ];
  return `{${parts.join(',')}}`;
}

export function goIntOrString(value: number | string | undefined): GoText {
  const { text } = goStruct(
    'intstr.IntOrString',
    typeof value === 'string'
      ? { Type: 1, IntVal: 0, StrVal: value }
      : { Type: 0, IntVal: value ?? 0, StrVal: '' },
  );
  return goText(text, shownJson(value ?? 0));
}

export const goToleration = (toleration: Toleration): GoText => {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  return goStruct('core.Toleration', {
    Key: key,
    Operator: operator,
    Value: value,
    Effect: effect,
    TolerationSeconds: pointer('int64', tolerationSeconds),
  });
};

export const goTaint = ({ key = '', value = '', effect = '', timeAdded }: Taint): GoText =>
  goStruct('core.Taint', {
    Key: key,
    Value: value,
    Effect: effect,
    TimeAdded: goText(timeAdded ?? '<nil>', shownJson(timeAdded)),
  });

/** Kubernetes' message shows the fields by which ports are compared. */
export const goServicePort = ({ protocol = '', port = 0 }: ServicePort): GoText =>
  goStruct('core.ServicePort', {
    Name: '',
    Protocol: protocol,
    AppProtocol: pointer('string', undefined),
    Port: port,
    TargetPort: goIntOrString(undefined),
    NodePort: 0,
  });

export const goNodeAddress = ({ type = '', address = '' }: NodeAddress): GoText =>
  goStruct('core.NodeAddress', { Type: type, Address: address });

export const goRoleRef = ({ apiGroup = '', kind = '', name = '' }: RoleRef): GoText =>
  goStruct('rbac.RoleRef', { APIGroup: apiGroup, Kind: kind, Name: name });

export const goScopes = (scopes: readonly string[] | undefined): GoText =>
  goList('core.ResourceQuotaScope', scopes);

export const goNodeDriver = ({ name = '', nodeID = '', topologyKeys, allocatable }: CSINodeDriver): GoText =>
  goStruct('storage.CSINodeDriver', {
    Name: name,
    NodeID: nodeID,
    TopologyKeys: goList('string', topologyKeys),
    Allocatable: goText(
      pointer('storage.VolumeNodeResources', allocatable).text,
      allocatable === undefined ? 'null' : `{"Count":${shownJson(allocatable.count)}}`,
    ),
  });

type AddressType = 'core.HostIP' | 'core.PodIP';

export const goAddress = (type: AddressType, { ip = '' }: PodIP | HostIP): GoText =>
  goStruct(type, { IP: ip });

export const goAddresses = (type: AddressType, addresses: readonly (PodIP | HostIP)[]): GoText =>
  goList(
    type,
    addresses.map((address) => goAddress(type, address)),
  );

export const goParentReference = (reference: ParentReference): GoText => {
  const { group = '', resource = '', namespace = '', name = '' } = reference;
  return goStruct('networking.ParentReference', {
    Group: group,
    Resource: resource,
    Namespace: namespace,
    Name: name,
  });
};

export const goObjectReference = (reference: ObjectReference): GoText =>
  goStruct('core.ObjectReference', {
    Kind: reference.kind ?? '',
    Namespace: reference.namespace ?? '',
    Name: reference.name ?? '',
    UID: reference.uid ?? '',
    APIVersion: reference.apiVersion ?? '',
    ResourceVersion: reference.resourceVersion ?? '',
    FieldPath: reference.fieldPath ?? '',
  });

export const goEventSource = ({ component = '', host = '' }: EventSource): GoText =>
  goStruct('core.EventSource', { Component: component, Host: host });

/** The terms of a node selector, in the type that Kubernetes uses inside. */
export const goNodeSelectorTerms = (terms: readonly NodeSelectorTerm[]): GoText =>
  goList(
    'core.NodeSelectorTerm',
    terms.map(({ matchExpressions, matchFields }) =>
      goStruct('core.NodeSelectorTerm', {
        MatchExpressions: goRequirements(matchExpressions),
        MatchFields: goRequirements(matchFields),
      }),
    ),
  );

const goRequirements = (requirements: readonly NodeSelectorRequirement[] | undefined): GoText =>
  goList(
    'core.NodeSelectorRequirement',
    requirements?.map(({ key = '', operator = '', values }) =>
      goStruct('core.NodeSelectorRequirement', {
        Key: key,
        Operator: operator,
        Values: goList('string', values),
      }),
    ),
  );
