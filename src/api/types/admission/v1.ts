// Written from src/api/idl/admission/v1.proto by the build. Change that file, not this one.

import type { JsonValue } from '../../json.ts';
import type { UserInfo } from '../authentication/v1.ts';
import type { GroupVersionKind, GroupVersionResource, Status } from '../meta/v1.ts';

/** A request that a webhook is to judge. */
export type AdmissionRequest = {
  /** Identifies the call. The answer must repeat it. */
  uid?: string;
  /** Kind of the object, in the version the webhook gets it in. */
  kind?: GroupVersionKind;
  /** Resource that is asked for, in the version the webhook has asked for. */
  resource?: GroupVersionResource;
  /** Subresource that is asked for, such as status. None if empty. */
  subResource?: string;
  /** Kind of the object in the version the client sent. Differs from kind if the object was converted for the webhook. */
  requestKind?: GroupVersionKind;
  /** Resource in the version the client asked for. Differs from resource if the request was converted for the webhook. */
  requestResource?: GroupVersionResource;
  /** Subresource the client asked for. Differs from subResource only if the request was converted for the webhook. */
  requestSubResource?: string;
  /** Name of the object. Empty on creation if the server is to make it up, and for requests about a whole collection. */
  name?: string;
  /** Namespace of the object. Empty for objects of the whole cluster. */
  namespace?: string;
  /** CREATE, UPDATE, DELETE or CONNECT. */
  operation?: string;
  /** Who makes the request. */
  userInfo?: UserInfo;
  /** The object as it would be stored. Null for DELETE. */
  object?: JsonValue;
  /** The object as it is now. Null for CREATE and CONNECT. */
  oldObject?: JsonValue;
  /** Nothing will be stored, and the webhook must change nothing either. False if absent. */
  dryRun?: boolean;
  /** Options of the request, such as DeleteOptions or CreateOptions. They can be of another kind than operation suggests, as when a patch creates an object. */
  options?: JsonValue;
};

/** The judgement of a webhook. */
export type AdmissionResponse = {
  /** The uid of the request. */
  uid?: string;
  /** The request may go on. */
  allowed?: boolean;
  /** Why it may not, for the client: code, reason and message. Without effect if allowed is true. */
  status?: Status;
  /** Changes to the object, as a JSON patch; in JSON in base64. Only from mutating webhooks. */
  patch?: string;
  /** Form of the patch: JSONPatch. Required if there is a patch. */
  patchType?: string;
  /** Notes for the audit log. Their keys are shown after the name of the webhook and a slash. */
  auditAnnotations?: { [key: string]: string };
  /** Texts shown to the client as warnings. They should be at most 120 characters long; longer ones can be cut. */
  warnings?: string[];
};

/** What is sent to an admission webhook, and what it answers. */
export type AdmissionReview = {
  kind?: string;
  apiVersion?: string;
  /** What to judge. Set in what is sent. */
  request?: AdmissionRequest;
  /** The judgement. Set in the answer. */
  response?: AdmissionResponse;
};
