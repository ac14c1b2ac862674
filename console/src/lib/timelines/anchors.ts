/** Anchors visible from a timeline, including those of its ancestors. */
import { service } from '../service/api';

export interface Anchor {
  anchor_id: string;
  timestamp: string;
  description: string;
  fixed: boolean;
  position: number;
  timeline_id: string;
  set_at: string;
}

interface AnchorPage {
  anchors: Anchor[];
  has_more: boolean;
}

/** Reads anchors. Without `limit`, the service's default applies. */
export function readAnchors(
  timeline: string,
  { limit, signal }: { limit?: number; signal?: AbortSignal } = {},
): Promise<AnchorPage> {
  return service.anchors({ timeline_id: timeline, limit }, { signal });
}
