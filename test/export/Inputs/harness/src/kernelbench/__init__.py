"""Stands for KernelBench's package: it imports what that does."""
from dotenv import load_dotenv
from litellm import completion
from openai import OpenAI
from tqdm import tqdm

load_dotenv()
