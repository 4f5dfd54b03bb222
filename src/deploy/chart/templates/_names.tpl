{{- define "name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
{{ include "selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "host" -}}
{{ include "name" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{/* The Secret of the serving certificate; empty: the authority in the database signs. */}}
{{- define "certificate" -}}
{{- if .Values.certificate.secret }}{{ .Values.certificate.secret }}{{ else if .Values.certificate.certManager.enabled }}{{ include "name" . }}-tls{{ end }}
{{- end }}

{{- define "servers" -}}
{{- required "database.servers: name the database, such as postgres://host:5432/name" .Values.database.servers }}
{{- end }}

{{/* Of pods: what Pod Security's level `restricted` asks for. User 1000 is `node` of the image. */}}
{{- define "podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* How a role logs in; call it with the name of its Secret. */}}
{{- define "login" -}}
- name: PGUSER
  valueFrom:
    secretKeyRef: { name: {{ . }}, key: username }
- name: PGPASSWORD
  valueFrom:
    secretKeyRef: { name: {{ . }}, key: password }
{{- end }}
