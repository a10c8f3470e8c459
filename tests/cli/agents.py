"""The official client of the Model Context Protocol, against `scrimp mcp`: python agents.py PROGRAM FOLDER"""

import sys

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def plain(result):
    """What a tool has answered, whatever the client calls the fields."""
    result = result.model_dump(by_alias=True)
    assert not result["isError"], result
    return result["structuredContent"]


async def main(program, folder):
    server = StdioServerParameters(command=program, args=["mcp", folder, "--memory", "512M"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = (await session.initialize()).model_dump(by_alias=True)
        assert hello["serverInfo"]["name"] == "scrimp", hello
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert "check" in tools and "explain" in tools, tools
        told = plain(await session.call_tool("check", {"model": "needham_schroeder.pml"}))
        run = next(p["run"] for p in told["properties"] if p["verdict"] == "violated")
        assert "needham_schroeder.pml" in plain(await session.call_tool("explain", {"trace": run}))["text"]
        assert "Eve" in plain(await session.call_tool("chart", {"trace": run}))["text"]
        wrong = (await session.call_tool("check", {"model": "none.pml"})).model_dump(by_alias=True)
        assert wrong["isError"], wrong

        heard = []

        async def progress(done, total, message):
            heard.append(done)

        with anyio.move_on_after(8):
            long = {"model": "endless.pml", "time": "30s"}
            await session.call_tool("count", long, progress_callback=progress)
        assert heard == sorted(set(heard)) and heard, heard
        # What was given up has ended, or does so soon.
        assert plain(await session.call_tool("count", {"model": "phils3.dve"}))["states"] == 154
        print("version", hello["protocolVersion"])

    try:
        from mcp.client.client import Client
    except ImportError:
        return
    # This one asks which versions there are.
    async with Client(stdio_client(server), mode="auto") as client:
        told = plain(await client.call_tool("count", {"model": "phils3.dve"}))
        assert told["states"] == 154, told
        print("version", client.protocol_version)


anyio.run(main, *sys.argv[1:])
