// Written from src/api/idl/admission/v1beta1.proto by the build. Change that file, not this one.

export type { AdmissionRequest, AdmissionResponse, AdmissionReview } from './v1.ts';
