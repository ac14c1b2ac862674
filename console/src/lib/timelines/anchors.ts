/** The anchors that are seen from a timeline: its own, and those of what it was forked from. */
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

/** Reads anchors, as many as the service gives by itself where no limit is named. */
export function readAnchors(
  timeline: string,
  { limit, signal }: { limit?: number; signal?: AbortSignal } = {},
): Promise<AnchorPage> {
  return service.anchors({ timeline_id: timeline, limit }, { signal });
}
