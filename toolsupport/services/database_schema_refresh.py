"""Refreshes the stored schema of a database."""

from __future__ import annotations

from channels.db import database_sync_to_async

from toolsupport.core.errors import ConfigError
from toolsupport.registry.databases import sql_sources
from toolsupport.sources import query_process
from toolsupport.sources.types import SourceError


async def refresh_schema(source_id: int) -> str:
    """Store its tables; return the reason of a failure, or "". Raises NotFound."""
    try:
        source = await database_sync_to_async(sql_sources.reached)(source_id)
        tables = await query_process.shapes(source)
    except (SourceError, ConfigError) as error:
        await database_sync_to_async(sql_sources.keep_failure)(source_id, error.words)
        return error.words
    await database_sync_to_async(sql_sources.keep_tables)(source_id, tables)
    return ""
