{{/* The environment of a process: settings by their names, then secrets, then what values add. Takes root, known, own. */}}
{{- define "jobledger.env" -}}
{{- $root := .root }}
{{- $own := .own }}
{{- $secrets := mergeOverwrite (deepCopy $root.Values.secrets) (deepCopy (default dict $own.secrets)) }}
{{- $plain := dict "JOBLEDGER_KAFKA" $root.Values.kafka "JOBLEDGER_BLOBS" $root.Values.blobs "JOBLEDGER_PUBLIC_URL" $root.Values.publicUrl }}
{{- $_ := set $plain "JOBLEDGER_PARTITIONS" (toString $root.Values.ledger.partitions) }}
{{- $_ := set $plain "JOBLEDGER_REPLICATION" (toString $root.Values.ledger.replication) }}
{{- $_ := set $plain "JOBLEDGER_TOPIC_PREFIX" $root.Values.ledger.topicPrefix }}
{{- if not $secrets.registry.name }}{{ $_ := set $plain "JOBLEDGER_REGISTRY" $root.Values.registry }}{{ end }}
{{- range $name, $value := mergeOverwrite $plain $root.Values.settings (default dict .known.settings) (default dict $own.settings) }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- include "jobledger.secretEnv" (dict "name" "JOBLEDGER_POSTGRES" "from" $secrets.postgres) }}
{{- include "jobledger.secretEnv" (dict "name" "JOBLEDGER_REGISTRY" "from" $secrets.registry) }}
{{- if .known.clickhouse }}{{ include "jobledger.secretEnv" (dict "name" "JOBLEDGER_CLICKHOUSE" "from" $secrets.clickhouse) }}{{ end }}
{{- range default list .known.knows }}
{{- include "jobledger.secretEnv" (dict "name" (printf "JOBLEDGER_%s" (snakecase . | upper)) "from" (index $secrets .)) }}
{{- end }}
{{- with concat $root.Values.extraEnv (default list $own.extraEnv) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "jobledger.secretEnv" -}}
{{- if .from.name }}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .from.name | quote }}, key: {{ .from.key | quote }}}}
{{- end }}
{{- end }}
