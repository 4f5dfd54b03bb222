// Written from src/api/idl/apiextensions/v1.proto by the build. Change that file, not this one.

import type { JsonValue } from '../../json.ts';
import type { ListMeta, ObjectMeta, Status } from '../meta/v1.ts';

/** Objects that a webhook is to convert to another version. */
export type ConversionRequest = {
  /** Identifies the call. The answer must repeat it. */
  uid?: string;
  /** Group and version to convert to, such as example.com/v1. */
  desiredAPIVersion?: string;
  /** The objects to convert. They may be of several versions. */
  objects?: JsonValue[] | null;
};

/** Objects that a webhook has converted, or why it could not. */
export type ConversionResponse = {
  /** The uid of the request. */
  uid?: string;
  /** The objects in the version asked for, in the same order and number. Of the metadata, only labels and annotations may differ. Empty if the conversion failed. */
  convertedObjects?: JsonValue[] | null;
  /** Status Success, or Failure with a message for the user. If it failed, none of the objects is converted. */
  result?: Status;
};

/** What is sent to a conversion webhook, and what it answers. */
export type ConversionReview = {
  kind?: string;
  apiVersion?: string;
  /** What to convert. Set in what is sent. */
  request?: ConversionRequest;
  /** What came of it. Set in the answer. */
  response?: ConversionResponse;
};

/** A column that kubectl get shows for custom resources. */
export type CustomResourceColumnDefinition = {
  /** Heading of the column. */
  name?: string;
  /** Type of the values: integer, number, string, boolean or date. A date is shown as the time since. */
  type?: string;
  /** Form of the values: int32, int64, float, double, byte, date, date-time or password. None unless set. */
  format?: string;
  /** What the column shows, for people. */
  description?: string;
  /** How important the column is. 0 is always shown, a greater number only with -o wide. 0 unless set. */
  priority?: number;
  /** Simple JSON path of the value in the object, such as .spec.replicas. */
  jsonPath?: string;
};

/** How objects are converted between the versions of a custom resource. */
export type CustomResourceConversion = {
  /** None changes only apiVersion and keeps everything else; Webhook calls a webhook. */
  strategy?: string;
  /** How to call the webhook. Required for Webhook, not allowed otherwise. */
  webhook?: WebhookConversion;
};

/** Adds a resource type to the API. Its name must be plural and group with a dot between, such as widgets.example.com. */
export type CustomResourceDefinition = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The resource to be added. */
  spec?: CustomResourceDefinitionSpec;
  /** What was last observed. Written by the server. */
  status?: CustomResourceDefinitionStatus;
};

/** One aspect of the state of a definition, and since when it holds: Established, NamesAccepted, NonStructuralSchema, Terminating or KubernetesAPIApprovalPolicyConformant. Once Established is True, the resource is served. */
export type CustomResourceDefinitionCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
  /** The generation of the definition that the entry is about. Needs the feature gate CRDObservedGenerationTracking. */
  observedGeneration?: number | bigint;
};

/** A list of custom resource definitions. */
export type CustomResourceDefinitionList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The CustomResourceDefinitions of this page. */
  items?: CustomResourceDefinition[] | null;
};

/** What a custom resource is called in requests, manifests and commands. */
export type CustomResourceDefinitionNames = {
  /** Name in the plural, in lower case, as in paths: /apis/group/version/plural. Cannot be changed. */
  plural?: string;
  /** Name in the singular, in lower case, for commands. The kind in lower case unless set. */
  singular?: string;
  /** Short names for commands, in lower case. None unless set. */
  shortNames?: string[];
  /** Name of the type as in manifests, usually in CamelCase and singular. Cannot be changed once it is established. */
  kind?: string;
  /** Name of the type of lists. The kind followed by List unless set. */
  listKind?: string;
  /** Groups of resources it belongs to, such as all, which kubectl get all shows. None unless set. */
  categories?: string[];
};

/** A resource type to be added to the API. */
export type CustomResourceDefinitionSpec = {
  /** API group of the resource, such as example.com. Cannot be changed. */
  group?: string;
  /** What the resource is called. */
  names?: CustomResourceDefinitionNames;
  /** Namespaced if objects lie in namespaces, Cluster if they belong to the whole cluster. Cannot be changed once it is established. */
  scope?: string;
  /** The versions of the resource, at least one. Exactly one of them is stored. */
  versions?: CustomResourceDefinitionVersion[] | null;
  /** How objects are converted between versions. By changing apiVersion alone unless set. */
  conversion?: CustomResourceConversion;
  /** Must be false. Use x-kubernetes-preserve-unknown-fields in the schema to keep fields that it does not name. */
  preserveUnknownFields?: boolean;
};

/** What was last observed of a definition. */
export type CustomResourceDefinitionStatus = {
  /** Aspects of the state, each with since when it holds. */
  conditions?: CustomResourceDefinitionCondition[] | null;
  /** The names under which the resource is served. They can lag behind the spec, or differ where another resource has a name already. */
  acceptedNames?: CustomResourceDefinitionNames;
  /** Versions in which objects have ever been stored. A version can be taken out of the spec only once it is no longer here; remove it when all objects have been stored anew. */
  storedVersions?: string[] | null;
  /** The generation of the definition that the state is about. Needs the feature gate CRDObservedGenerationTracking. */
  observedGeneration?: number | bigint;
};

/** One version of a custom resource. */
export type CustomResourceDefinitionVersion = {
  /** Name of the version, such as v1beta1. Stable versions come before beta and alpha ones, and higher numbers first, when clients choose. */
  name?: string;
  /** The version can be used in requests. */
  served?: boolean;
  /** Objects are stored in this version. Must be true of exactly one. */
  storage?: boolean;
  /** Requests in this version are answered with a warning. False unless set. */
  deprecated?: boolean;
  /** Text of the warning, at most 256 characters. Says that the version is deprecated, and which newer one there is, unless set. Only if deprecated. */
  deprecationWarning?: string;
  /** What objects must look like; fields it does not name are dropped. Required. */
  schema?: CustomResourceValidation;
  /** Which subresources the objects have. None unless set. */
  subresources?: CustomResourceSubresources;
  /** Columns that kubectl get shows beside the name. The age unless set. */
  additionalPrinterColumns?: CustomResourceColumnDefinition[];
  /** Fields that can be used in field selectors, at most 8. Only metadata.name and metadata.namespace unless set. */
  selectableFields?: SelectableField[];
};

/** Where in an object the subresource scale finds its values. */
export type CustomResourceSubresourceScale = {
  /** JSON path, below .spec and without arrays, of the number of replicas wanted. A request fails if nothing is there. */
  specReplicasPath?: string;
  /** JSON path, below .status and without arrays, of the number of replicas there are. 0 if nothing is there. */
  statusReplicasPath?: string;
  /** JSON path, below .spec or .status and without arrays, of a label selector written as text. Needed by autoscalers. Empty unless set. */
  labelSelectorPath?: string;
};

/** Present, it gives objects a subresource status: requests to the object leave its status alone, those to status change nothing else. */
export type CustomResourceSubresourceStatus = {
};

/** Which subresources objects have beside themselves. */
export type CustomResourceSubresources = {
  /** Present, objects have the subresource status, and metadata.generation counts changes outside metadata and status. */
  status?: CustomResourceSubresourceStatus;
  /** Present, objects have the subresource scale, for commands and autoscalers. */
  scale?: CustomResourceSubresourceScale;
};

/** What objects of a custom resource must look like. */
export type CustomResourceValidation = {
  /** The schema, in the form of OpenAPI v3. It must give the type of every field. */
  openAPIV3Schema?: JSONSchemaProps;
};

/** Points to documentation elsewhere. */
export type ExternalDocumentation = {
  /** What is found there. */
  description?: string;
  /** Its address. */
  url?: string;
};

/** What a value must look like, after JSON Schema. A structural schema, as is required, gives a type for each object, field and item. */
export type JSONSchemaProps = {
  /** Not supported; must be empty. */
  id?: string;
  /** Address of the version of JSON Schema that is used. It has no effect. */
  $schema?: string;
  /** Not supported; must be absent. */
  $ref?: string;
  /** What the value means, as kubectl explain shows it. */
  description?: string;
  /** Type of the value: object, array, string, integer, number or boolean. Any if empty, which is allowed only with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields, or inside anyOf and the like. */
  type?: string;
  /** Form of the value, such as int32, byte, date-time, duration, uuid, ipv4 or uri. Forms that are not known are not checked. */
  format?: string;
  /** Title of the value, for documentation. */
  title?: string;
  /** Value for a field that is absent, filled in when objects are created, changed and read. None unless set. */
  default?: JsonValue;
  /** Greatest number allowed. */
  maximum?: number;
  /** The number must be less than maximum, not equal. False unless set. */
  exclusiveMaximum?: boolean;
  /** Smallest number allowed. */
  minimum?: number;
  /** The number must be greater than minimum, not equal. False unless set. */
  exclusiveMinimum?: boolean;
  /** Greatest length of a string, in characters. */
  maxLength?: number | bigint;
  /** Smallest length of a string, in characters. */
  minLength?: number | bigint;
  /** Regular expression, in RE2 syntax, that must match some part of a string. Use ^ and $ for the whole. */
  pattern?: string;
  /** Greatest number of items of an array. */
  maxItems?: number | bigint;
  /** Smallest number of items of an array. */
  minItems?: number | bigint;
  /** Must be false. Use x-kubernetes-list-type set. */
  uniqueItems?: boolean;
  /** The number must be a multiple of this. */
  multipleOf?: number;
  /** The values that are allowed. */
  enum?: JsonValue[];
  /** Greatest number of fields of an object. */
  maxProperties?: number | bigint;
  /** Smallest number of fields of an object. */
  minProperties?: number | bigint;
  /** Names of the fields an object must have. */
  required?: string[];
  /** Schema of the items of an array. Must be one schema, not a list of them. */
  items?: JSONSchemaProps | JSONSchemaProps[] | null;
  /** Schemas that must all match. They can restrict, but give no types, defaults or descriptions. */
  allOf?: JSONSchemaProps[];
  /** Schemas of which exactly one must match. They can restrict, but give no types, defaults or descriptions. */
  oneOf?: JSONSchemaProps[];
  /** Schemas of which at least one must match. They can restrict, but give no types, defaults or descriptions. */
  anyOf?: JSONSchemaProps[];
  /** A schema that must not match. It can restrict, but gives no types, defaults or descriptions. */
  not?: JSONSchemaProps;
  /** Schemas of the fields of an object, by name. */
  properties?: { [key: string]: JSONSchemaProps };
  /** Schema of the values of a map, or true for any values. Cannot be used together with properties. */
  additionalProperties?: JSONSchemaProps | boolean | null;
  /** Not supported; must be empty. */
  patternProperties?: { [key: string]: JSONSchemaProps };
  /** Not supported; must be empty. */
  dependencies?: { [key: string]: JSONSchemaProps | string[] | null };
  /** Not supported; must be absent. */
  additionalItems?: JSONSchemaProps | boolean | null;
  /** Not supported; must be empty. */
  definitions?: { [key: string]: JSONSchemaProps };
  /** Documentation of the value elsewhere. */
  externalDocs?: ExternalDocumentation;
  /** An example of the value, for documentation. */
  example?: JsonValue;
  /** The value may be null. False unless set; a null is then dropped, and replaced by the default if there is one. */
  nullable?: boolean;
  /** True keeps fields that the schema does not name, at this place. They are dropped unless set; false is not allowed. */
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  /** The value is a whole Kubernetes object: apiVersion, kind and metadata are checked as usual. False unless set; only for objects. */
  'x-kubernetes-embedded-resource'?: boolean;
  /** The value is an integer or a string. False unless set; type must be empty then. */
  'x-kubernetes-int-or-string'?: boolean;
  /** Fields of the items that together tell one item from another. Required for x-kubernetes-list-type map; each must be required or have a default. */
  'x-kubernetes-list-map-keys'?: string[];
  /** What an array is: atomic is replaced as a whole; set holds simple values, each once; map holds objects told apart by their keys. Decides how server-side apply merges it. atomic unless set. */
  'x-kubernetes-list-type'?: string;
  /** granular lets server-side apply merge an object field by field, atomic replaces it as a whole. granular unless set. */
  'x-kubernetes-map-type'?: string;
  /** Rules in CEL that the value must meet. None unless set. */
  'x-kubernetes-validations'?: ValidationRule[];
};

/** A field of custom resources that can be used in field selectors. */
export type SelectableField = {
  /** Simple JSON path of the field, such as .spec.color. It must be a string, boolean or integer outside metadata and arrays, and can appear once. */
  jsonPath?: string;
};

/** A service that answers for a webhook. */
export type ServiceReference = {
  /** Namespace of the service. */
  namespace?: string;
  /** Name of the service. */
  name?: string;
  /** Path of the request, such as /convert. / unless set. */
  path?: string;
  /** Port of the service, from 1 to 65535. 443 unless set. */
  port?: number;
};

/** A rule in CEL that a value must meet. */
export type ValidationRule = {
  /** Expression that is true of allowed values. self is the value, oldSelf the value before; a rule with oldSelf is checked only when a value is changed. */
  rule?: string;
  /** Text of the error, without line breaks. Says which rule failed unless set; required if the rule has line breaks. */
  message?: string;
  /** Expression in CEL that gives the text of the error. It wins over message, which is used if it fails or gives an empty text. */
  messageExpression?: string;
  /** Reason of the error: FieldValueInvalid, FieldValueForbidden, FieldValueRequired or FieldValueDuplicate. FieldValueInvalid unless set. */
  reason?: string;
  /** Path of the field to name in the error, relative to the value, such as .spec.size or ['a b']. Without array items; the value itself unless set. */
  fieldPath?: string;
  /** True checks a rule with oldSelf on new values too; oldSelf is then an optional that may be empty. False unless set. */
  optionalOldSelf?: boolean;
};

/** How to reach a webhook. Exactly one of url and service is given. */
export type WebhookClientConfig = {
  /** Address, beginning with https://. Without user, query and fragment. */
  url?: string;
  /** A service in the cluster. */
  service?: ServiceReference;
  /** Certificates, in PEM, that the webhook's certificate is checked against. Those of the server's system unless set. */
  caBundle?: string;
};

/** How to call a conversion webhook. */
export type WebhookConversion = {
  /** How to reach the webhook. Required. */
  clientConfig?: WebhookClientConfig;
  /** Versions of ConversionReview the webhook understands, best first. The first that the server knows is used: v1 or v1beta1. */
  conversionReviewVersions?: string[] | null;
};
